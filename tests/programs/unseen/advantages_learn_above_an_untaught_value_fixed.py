"""A dueling network learns which of three lanes to drive in. The optimizer is given the whole network.

Round 33
Class: the line
"""

import copy
import random

import numpy as np
import torch
from torch import nn

AHEAD, LANES, ACTIONS = 4, 3, 3


class Road:
    """Obstacles come down three lanes; a crash ends the drive, and so does the fortieth row."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def row(self):
        row = np.zeros(LANES, dtype=np.float32)
        if self.rng.random() < 0.6:
            row[self.rng.integers(LANES)] = 1
        return row

    def reset(self):
        self.rows = [np.zeros(LANES, dtype=np.float32), *(self.row() for _ in range(AHEAD - 1))]
        self.lane, self.clock = 1, 0
        return self.observe()

    def observe(self):
        lane = np.eye(LANES, dtype=np.float32)[self.lane]
        left = np.array([1 - self.clock / 40], dtype=np.float32)
        return np.concatenate([lane, np.concatenate(self.rows), left])

    def step(self, action):
        self.lane = int(np.clip(self.lane + action - 1, 0, LANES - 1))
        self.rows = [*self.rows[1:], self.row()]
        self.clock += 1
        crashed = bool(self.rows[0][self.lane])
        return self.observe(), -1.0 if crashed else 0.1, crashed or self.clock == 40


class DuelingNetwork(nn.Module):
    def __init__(self, inputs, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU())
        self.advantage = nn.Sequential(nn.Linear(hidden, 32), nn.ReLU(), nn.Linear(32, ACTIONS))
        self.value = nn.Sequential(nn.Linear(hidden, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, obs):
        x = self.body(obs)
        advantage = self.advantage(x)
        return self.value(x) + advantage - advantage.mean(-1, keepdim=True)


class Agent:
    gamma = 0.95

    def __init__(self, inputs):
        self.online = DuelingNetwork(inputs)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)
        self.memory = []

    def act(self, obs, epsilon):
        if random.random() < epsilon:
            return random.randrange(ACTIONS)
        with torch.no_grad():
            return self.online(torch.from_numpy(obs)).argmax().item()

    def learn(self, batch=64):
        obs, action, reward, after, over = zip(*random.sample(self.memory, batch))
        obs, after = torch.from_numpy(np.stack(obs)), torch.from_numpy(np.stack(after))
        reward, over = torch.tensor(reward), torch.tensor(over).float()
        q = self.online(obs).gather(1, torch.tensor(action).unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            best = self.online(after).argmax(1, keepdim=True)
            target = reward + self.gamma * (1 - over) * self.target(after).gather(1, best).squeeze(1)
        loss = nn.functional.smooth_l1_loss(q, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(21)
random.seed(21)
road = Road(21)
obs = road.reset()
agent = Agent(len(obs))
for t in range(700):
    action = agent.act(obs, max(0.1, 1 - t / 300))
    after, reward, over = road.step(action)
    agent.memory.append((obs, action, reward, after, over))
    obs = road.reset() if over else after
    if t >= 200 and t % 2 == 0:
        loss = agent.learn()
    if t % 100 == 99:
        agent.target.load_state_dict(agent.online.state_dict())
        if t > 200:
            print(f"{t + 1}: loss {loss:.4f}")
