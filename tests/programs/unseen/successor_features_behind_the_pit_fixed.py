"""Successor features in a world with pits and a goal; nothing is expected where the walk is over.

Round 29
Class: meaning
"""

import copy

import numpy as np
import torch
from torch import nn

SIZE, ACTIONS, FEATURES, GAMMA = 5, 4, 4, 0.95


class PitWorld:
    moves = ((0, 1), (0, -1), (1, 0), (-1, 0))
    pits = ((1, 3), (3, 1))
    goal = (4, 4)

    def __init__(self, rng):
        self.rng = rng

    def observation(self):
        board = np.zeros(SIZE * SIZE, dtype=np.float32)
        board[self.place[0] * SIZE + self.place[1]] = 1
        return board

    def reset(self):
        self.place, self.clock = (int(self.rng.integers(3)), 0), 0
        return self.observation(), {}

    def step(self, action):
        row, column = (p + m for p, m in zip(self.place, self.moves[action]))
        bumped = not (0 <= row < SIZE and 0 <= column < SIZE)
        if not bumped:
            self.place = (row, column)
        self.clock += 1
        fell, arrived = self.place in self.pits, self.place == self.goal
        cumulants = np.array([1.0, bumped, fell, arrived], dtype=np.float32)
        reward = float(cumulants @ np.array([-0.04, -0.1, -1.0, 1.0]))
        info = {"cumulants": cumulants}
        return self.observation(), reward, fell or arrived, self.clock >= 40, info


class Successor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(SIZE * SIZE, 64), nn.ReLU())
        self.psi = nn.Linear(64, ACTIONS * FEATURES)
        self.task = nn.Parameter(torch.zeros(FEATURES))

    def forward(self, obs):
        return self.psi(self.body(obs)).view(-1, ACTIONS, FEATURES)

    def values(self, obs):
        return self(obs) @ self.task.detach()


torch.manual_seed(2915)
rng = np.random.default_rng(2915)
env, net = PitWorld(rng), Successor()
slow = copy.deepcopy(net).requires_grad_(False)
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
replay = []
obs, _ = env.reset()
for step in range(500):
    with torch.no_grad():
        greedy = net.values(torch.from_numpy(obs)).argmax().item()
    action = int(rng.integers(ACTIONS)) if rng.random() < 0.4 else greedy
    after, reward, terminated, truncated, info = env.step(action)
    replay.append((obs, action, np.float32(reward), info["cumulants"], after, np.float32(terminated)))
    obs = env.reset()[0] if terminated or truncated else after
    if step < 150 or step % 2:
        continue
    batch = zip(*(replay[i] for i in rng.integers(len(replay), size=32)))
    o, a, r, phi, n, over = (torch.from_numpy(np.array(column)) for column in batch)
    every = torch.arange(32)
    with torch.no_grad():
        best = net.values(n).argmax(1)
        target = phi + GAMMA * (1 - over).unsqueeze(1) * slow(n)[every, best]
    psi_loss = (net(o)[every, a] - target).pow(2).sum(1).mean()
    task_loss = (phi @ net.task - r).pow(2).mean()
    optimizer.zero_grad()
    (psi_loss + task_loss).backward()
    optimizer.step()
    if step % 50 == 0:
        slow.load_state_dict(net.state_dict())
