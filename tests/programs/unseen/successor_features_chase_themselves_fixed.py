"""Successor features of a small maze are learned by temporal differences from a replay buffer. The features
expected from the next place are made without gradients, so only the estimate moves.

Round 34
Class: stays alive
"""

import random
from collections import deque

import numpy as np
import torch
from torch import nn

SIDE, ACTIONS, KINDS, GAMMA, BATCH = 5, 4, 3, 0.9, 32
random.seed(343)
torch.manual_seed(343)


class Orchard:
    """Trees of three kinds stand on a board; a walk ends at the gate or is broken off after thirty steps."""

    shifts = ((1, 0), (-1, 0), (0, 1), (0, -1))

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.trees = rng.integers(0, 2, (SIDE, SIDE, KINDS)).astype(np.float32)

    def reset(self):
        self.at = np.array([0, 0])
        self.clock = 0
        return self.observe()

    def observe(self):
        board = np.zeros((SIDE, SIDE), dtype=np.float32)
        board[tuple(self.at)] = 1
        return board.reshape(-1)

    def step(self, action):
        self.at = np.clip(self.at + self.shifts[action], 0, SIDE - 1)
        self.clock += 1
        at_gate = tuple(self.at) == (SIDE - 1, SIDE - 1)
        return self.observe(), self.trees[tuple(self.at)], at_gate, self.clock >= 30


class SuccessorFeatures(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(SIDE * SIDE, 48), nn.ReLU(), nn.Linear(48, ACTIONS * KINDS))

    def forward(self, obs):
        return self.net(obs).view(-1, ACTIONS, KINDS)


def learn(psi, optimizer, batch, task):
    obs, action, features, next_obs, over = (torch.as_tensor(np.stack(column)) for column in zip(*batch))
    rows = torch.arange(len(action))
    estimate = psi(obs)[rows, action]
    with torch.no_grad():
        following = psi(next_obs)
    best = (following @ task).argmax(dim=1)
    target = features + GAMMA * (1 - over)[:, None] * following[rows, best]
    loss = (estimate - target).pow(2).sum(dim=1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


env = Orchard(34)
psi = SuccessorFeatures()
optimizer = torch.optim.Adam(psi.parameters(), lr=2e-3)
task = torch.tensor([1.0, -0.5, 0.3])
memory = deque(maxlen=2000)
errors = []
obs = env.reset()
for step in range(600):
    if random.random() < 0.3:
        action = random.randrange(ACTIONS)
    else:
        with torch.no_grad():
            action = int((psi(torch.from_numpy(obs)) @ task).argmax())
    next_obs, features, over, out_of_time = env.step(action)
    memory.append((obs, action, features, next_obs, np.float32(over)))
    obs = env.reset() if over or out_of_time else next_obs
    if len(memory) >= 100 and step % 4 == 0:
        errors.append(learn(psi, optimizer, random.sample(memory, BATCH), task))
print(f"{len(errors)} updates, error {np.mean(errors[:20]):.3f} -> {np.mean(errors[-20:]):.3f}")
