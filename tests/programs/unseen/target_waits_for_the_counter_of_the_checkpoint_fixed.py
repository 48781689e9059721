"""The agent is restored from a checkpoint that holds when the target was last synced; its own count starts again at zero.
Repaired here.

Round 12
Class: late and rare
"""

import copy
import io
from collections import deque

import numpy as np
import torch
from torch import nn

torch.manual_seed(1203)
rng = np.random.default_rng(1203)
PERIOD = 20


class Corridor:
    """Nine cells; right pays at the end, left is safe."""

    def reset(self):
        self.cell, self.time = 4, 0
        return self.view()

    def view(self):
        return np.eye(9, dtype=np.float32)[self.cell]

    def step(self, action):
        self.time += 1
        self.cell = int(np.clip(self.cell + (1 if action else -1), 0, 8))
        return self.view(), float(self.cell == 8) - 0.05, self.cell in (0, 8)


class Agent:
    def __init__(self):
        self.online = nn.Sequential(nn.Linear(9, 24), nn.ReLU(), nn.Linear(24, 2))
        self.target = copy.deepcopy(self.online)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=3e-3)
        self.updates, self.last_sync = 0, 0

    def save(self, file):
        state = {"online": self.online.state_dict(), "target": self.target.state_dict()}
        state |= {
            "optimizer": self.optimizer.state_dict(),
            "updates": self.updates,
            "last_sync": self.last_sync,
        }
        torch.save(state, file)

    def load(self, file):
        state = torch.load(file)
        self.online.load_state_dict(state["online"])
        self.target.load_state_dict(state["target"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.updates, self.last_sync = state["updates"], state["last_sync"]

    def act(self, obs):
        if rng.random() < 0.3:
            return int(rng.integers(2))
        with torch.no_grad():
            return int(self.online(torch.from_numpy(obs)).argmax())

    def learn(self, batch):
        obs, action, reward, after, done = (torch.as_tensor(np.stack(x)) for x in zip(*batch))
        with torch.no_grad():
            goal = reward.float() + 0.95 * (1 - done.float()) * self.target(after).amax(1)
        chosen = self.online(obs).gather(1, action[:, None]).squeeze(1)
        loss = nn.functional.smooth_l1_loss(chosen, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates - self.last_sync >= PERIOD:
            self.target.load_state_dict(self.online.state_dict())
            self.last_sync = self.updates


def train(agent, memory, steps):
    env = Corridor()
    obs = env.reset()
    for _ in range(steps):
        action = agent.act(obs)
        after, reward, done = env.step(action)
        memory.append((obs, action, reward, after, float(done)))
        obs = env.reset() if done else after
        if len(memory) >= 32:
            agent.learn([memory[i] for i in rng.integers(len(memory), size=32)])


first, memory = Agent(), deque(maxlen=500)
train(first, memory, 250)
checkpoint = io.BytesIO()
first.save(checkpoint)
checkpoint.seek(0)
second = Agent()
second.load(checkpoint)
train(second, memory, 150)
