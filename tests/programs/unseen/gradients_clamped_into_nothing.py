"""A deep Q-network after the tutorial: every gradient is to be clamped to one before the step. The clamp that was
typed makes a clamped copy and leaves the gradient as it was.

Round 18
Class: gradients by hand
"""

import math
import random
from collections import deque, namedtuple

import torch
from torch import nn, optim

random.seed(1804)
torch.manual_seed(1804)

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))
BATCH_SIZE, GAMMA, EPS_START, EPS_END, EPS_DECAY, TARGET_UPDATE = 32, 0.95, 0.9, 0.05, 120, 5


class DQN(nn.Module):
    def __init__(self, n_observations, n_actions):
        super().__init__()
        self.layer1 = nn.Linear(n_observations, 48)
        self.layer2 = nn.Linear(48, 48)
        self.layer3 = nn.Linear(48, n_actions)

    def forward(self, x):
        x = torch.relu(self.layer1(x))
        return self.layer3(torch.relu(self.layer2(x)))


class Lander:
    """Comes down from ten; thrust costs fuel, a hard landing costs more."""

    def reset(self):
        self.height, self.speed, self.t = 10.0, -random.random(), 0
        return self.obs()

    def obs(self):
        return torch.tensor([[self.height / 10, self.speed]])

    def step(self, action):
        self.speed += 0.4 * action - 0.25
        self.height += self.speed
        self.t += 1
        if self.height <= 0:
            return None, 10.0 - 20.0 * min(abs(self.speed), 2.0)
        if self.height > 15 or self.t > 60:
            return None, -30.0
        return self.obs(), -0.2 * action


policy_net, target_net = DQN(2, 2), DQN(2, 2)
target_net.load_state_dict(policy_net.state_dict())
optimizer = optim.RMSprop(policy_net.parameters(), lr=1e-3)
memory = deque(maxlen=2000)
steps_done = 0


def select_action(state):
    global steps_done
    eps_threshold = EPS_END + (EPS_START - EPS_END) * math.exp(-steps_done / EPS_DECAY)
    steps_done += 1
    if random.random() > eps_threshold:
        with torch.no_grad():
            return policy_net(state).max(1)[1].view(1, 1)
    return torch.tensor([[random.randrange(2)]])


def optimize_model():
    if len(memory) < BATCH_SIZE:
        return
    batch = Transition(*zip(*random.sample(memory, BATCH_SIZE)))
    non_final_mask = torch.tensor([s is not None for s in batch.next_state])
    state_action_values = policy_net(torch.cat(batch.state)).gather(1, torch.cat(batch.action))
    next_state_values = torch.zeros(BATCH_SIZE)
    with torch.no_grad():
        non_final_next_states = torch.cat([s for s in batch.next_state if s is not None])
        next_state_values[non_final_mask] = target_net(non_final_next_states).max(1)[0]
    expected_state_action_values = next_state_values * GAMMA + torch.cat(batch.reward)
    loss = nn.functional.mse_loss(state_action_values, expected_state_action_values.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    for param in policy_net.parameters():
        param.grad.clamp(-1, 1)  # BUG GS506
    optimizer.step()


env = Lander()
for i_episode in range(15):
    state = env.reset()
    while state is not None:
        action = select_action(state)
        next_state, reward = env.step(action.item())
        memory.append(Transition(state, action, next_state, torch.tensor([reward])))
        state = next_state
        optimize_model()
    if i_episode % TARGET_UPDATE == 0:
        target_net.load_state_dict(policy_net.state_dict())
print("Complete", steps_done)
