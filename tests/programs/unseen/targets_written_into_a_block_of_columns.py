"""A Q-learner in the manner of the old libraries copies its predictions, writes the targets at the taken actions and
fits the whole table; the actions pick a block of columns for every row.

Round 22
Class: axes
"""

import random
from collections import deque

import numpy as np
import torch
from torch import nn


class Catch:
    """A fruit falls on a grid of five columns; the basket moves left, stays or moves right."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.fruit_row, self.fruit, self.basket = 0, random.randrange(5), random.randrange(5)
        return self.observe()

    def observe(self):
        return np.array([self.fruit_row / 5, self.fruit / 5, self.basket / 5], dtype=np.float32)

    def act(self, action):
        self.basket = min(4, max(0, self.basket + action - 1))
        self.fruit_row += 1
        over = self.fruit_row == 5
        reward = (1 if self.fruit == self.basket else -1) if over else 0
        return self.observe(), reward, over


class Agent:
    def __init__(self, batch_size=32, discount=0.9):
        self.model = nn.Sequential(nn.Linear(3, 40), nn.ReLU(), nn.Linear(40, 3))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        self.memory, self.batch_size, self.discount = deque(maxlen=500), batch_size, discount

    def play(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(3)
        with torch.no_grad():
            return int(self.model(torch.from_numpy(state)).argmax())

    def train(self):
        S, A, R, NS, D = (np.array(column) for column in zip(*random.sample(self.memory, self.batch_size)))
        predicted = self.model(torch.from_numpy(S))
        with torch.no_grad():
            best = self.model(torch.from_numpy(NS)).max(dim=1).values
        y = torch.as_tensor(R, dtype=torch.float32) + self.discount * torch.as_tensor(~D) * best
        table = predicted.detach().clone()
        table[:, torch.from_numpy(A)] = y.unsqueeze(1)  # BUG GS601 GS604
        loss = (predicted - table).pow(2).sum(dim=1).mean()  # BUG GS601 GS604
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


random.seed(2226)
torch.manual_seed(2226)
env, agent = Catch(), Agent()
for epoch in range(50):
    state, over = env.reset(), False
    while not over:
        action = agent.play(state, epsilon=0.3)
        following, reward, over = env.act(action)
        agent.memory.append((state, action, reward, following, over))
        state = following
    if len(agent.memory) >= 40:
        loss = agent.train()
    if epoch % 10 == 9:
        print(epoch, round(loss, 4))
