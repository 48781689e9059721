"""An actor-critic notebook. The loss of an episode is added up step by step, and one indentation too many has put its
backward into the loop: the second step sends the first one's part backward once more.
Repaired here.

Round 19
Class: forward errors
"""

from collections import namedtuple
from itertools import count

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(1917)
SavedAction = namedtuple("SavedAction", ["log_prob", "value"])


class Seesaw:
    """A ball on a seesaw rolls faster and faster unless it is tilted back."""

    def reset(self):
        self.place, self.speed = 0.2 * torch.randn(2).double().numpy()
        return self.observe()

    def observe(self):
        return torch.tensor([self.place, self.speed], dtype=torch.float32)

    def step(self, tilt):
        self.speed += 0.1 * (self.place + (1.0 if tilt == 1 else -1.0))
        self.place += 0.2 * self.speed
        return self.observe(), 1.0, abs(self.place) > 1


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(2, 48)
        self.action_head = nn.Linear(48, 2)
        self.value_head = nn.Linear(48, 1)

    def forward(self, x):
        x = F.relu(self.affine1(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


model = Policy()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def select_action(state, saved_actions):
    probs, state_value = model(state)
    m = Categorical(probs)
    action = m.sample()
    saved_actions.append(SavedAction(m.log_prob(action), state_value))
    return action.item()


def finish_episode(saved_actions, rewards, gamma=0.95):
    R, returns = 0.0, []
    for r in rewards[::-1]:
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)

    optimizer.zero_grad()
    loss = 0
    for (log_prob, value), R in zip(saved_actions, returns):
        advantage = R - value.item()
        loss = loss - log_prob * advantage + F.smooth_l1_loss(value, R.view(1))
    loss.backward()
    optimizer.step()


env = Seesaw()
running_reward = 5.0
for i_episode in range(60):
    state, saved_actions, rewards = env.reset(), [], []
    for t in count(1):
        state, reward, done = env.step(select_action(state, saved_actions))
        rewards.append(reward)
        if done or t >= 30:
            break
    if len(rewards) < 2:
        continue
    finish_episode(saved_actions, rewards)
    running_reward = 0.1 * t + 0.9 * running_reward
print("running reward", running_reward)
