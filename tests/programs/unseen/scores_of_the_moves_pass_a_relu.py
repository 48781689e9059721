"""REINFORCE in the manner of many first programs: every layer of the policy is followed by a rectifier, the last one too,
and then comes the softmax. A move whose score lies below zero everywhere stays at zero, whatever it earns.

Round 19
Class: zero in part
"""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

random.seed(1926)
torch.manual_seed(1926)

MOVES = [(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, -1), (1, -1), (-1, 1)]


class Meadow:
    """A sheep on a meadow of seven by seven looks for the gate."""

    def reset(self):
        self.x, self.y = random.randrange(7), random.randrange(7)
        self.gate = random.randrange(7), random.randrange(7)
        return self.observe()

    def observe(self):
        return torch.tensor([self.x, self.y, *self.gate], dtype=torch.float32) / 6

    def distance(self):
        return max(abs(self.x - self.gate[0]), abs(self.y - self.gate[1]))

    def step(self, move):
        before = self.distance()
        self.x = min(6, max(0, self.x + MOVES[move][0]))
        self.y = min(6, max(0, self.y + MOVES[move][1]))
        return self.observe(), float(before - self.distance()), self.distance() == 0


class PolicyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 48)
        self.fc2 = nn.Linear(48, 48)
        self.fc3 = nn.Linear(48, len(MOVES))

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        x = F.relu(self.fc3(x))  # BUG GS208
        return F.softmax(x, dim=-1)


policy = PolicyNet()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
env = Meadow()
scores = []
for episode in range(120):
    state, done = env.reset(), False
    log_probs, rewards = [], []
    while not done and len(rewards) < 12:
        dist = Categorical(policy(state))
        move = dist.sample()
        state, reward, done = env.step(move.item())
        log_probs.append(dist.log_prob(move))
        rewards.append(reward)
    returns, running = [], 0.0
    for reward in reversed(rewards):
        running = reward + 0.9 * running
        returns.insert(0, running)
    loss = -(torch.stack(log_probs) * torch.tensor(returns)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scores.append(sum(rewards))
print("last scores", scores[-10:])
