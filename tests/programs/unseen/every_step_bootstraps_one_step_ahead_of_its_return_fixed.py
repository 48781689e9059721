"""A rollout's returns are summed without the value behind it, and the same discounted value is added to every step.

Round 13
Class: meaning
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1310)
np.random.seed(1310)
GAMMA, INTERVAL = 0.9, 7


class Corridor:
    """Walk right to the end; a small cost on the way and a prize at the end."""

    def reset(self):
        self.at, self.time = np.random.randint(0, 3), 0
        return self.see()

    def see(self):
        return np.array([self.at / 10, self.time / 40], dtype=np.float32)

    def step(self, action):
        self.at = max(0, self.at + (1 if action == 1 else -1))
        self.time += 1
        done = self.at >= 10 or self.time >= 40
        return self.see(), (1.0 if self.at >= 10 else -0.05 * np.random.rand()), done


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc_pi, self.fc_v = nn.Linear(2, 48), nn.Linear(48, 2), nn.Linear(48, 1)

    def pi(self, x):
        return F.log_softmax(self.fc_pi(torch.relu(self.fc1(x))), dim=-1)

    def v(self, x):
        return self.fc_v(torch.relu(self.fc1(x)))


model, env = ActorCritic(), Corridor()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
state, done = env.reset(), False
for update in range(150):
    states, actions, rewards = [], [], []
    for _ in range(INTERVAL):
        action = Categorical(logits=model.pi(torch.from_numpy(state))).sample().item()
        nxt, reward, done = env.step(action)
        states.append(state)
        actions.append([action])
        rewards.append(reward)
        state = nxt
        if done:
            break
    total, returns = (0.0 if done else model.v(torch.from_numpy(state)).item()), []
    for reward in reversed(rewards):
        total = GAMMA * total + reward
        returns.append([total])
    returns.reverse()
    s_batch, a_batch, r_batch = (
        torch.tensor(np.array(states)),
        torch.tensor(actions),
        torch.tensor(returns).float(),
    )
    td_target = r_batch
    advantage = td_target - model.v(s_batch)
    log_pi_a = model.pi(s_batch).gather(1, a_batch)
    loss = -log_pi_a * advantage.detach() + F.smooth_l1_loss(model.v(s_batch), td_target)
    optimizer.zero_grad()
    loss.mean().backward()
    optimizer.step()
    if done:
        state, done = env.reset(), False
