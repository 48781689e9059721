"""A recurrent Q-network for a task that never ends. Learning begins its sequences from nothing, as it should; acting
carries its memory from step to step with gradients on, and the graph behind it is as long as the run.
Repaired here.

Round 18
Class: stays alive
"""

import copy
import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

random.seed(1810)
torch.manual_seed(1810)


class Thermostat:
    """The room can be felt, the window cannot: it opens and closes, and the heating must remember."""

    def __init__(self):
        self.warmth, self.open = 0.0, False

    def sense(self):
        return torch.tensor([self.warmth])

    def step(self, heat):
        if random.random() < 0.05:
            self.open = not self.open
        self.warmth = 0.9 * self.warmth + (0.25 if heat else 0.0) - (0.2 if self.open else 0.05)
        return self.sense(), -abs(self.warmth - 0.5)


class DRQN(nn.Module):
    def __init__(self, hidden_size=24):
        super().__init__()
        self.encoder = nn.Linear(1, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.head = nn.Linear(hidden_size, 2)

    def forward(self, obs, hidden=None):
        features, hidden = self.gru(torch.relu(self.encoder(obs)), hidden)
        return self.head(features), hidden


class SequenceMemory:
    def __init__(self, capacity, length):
        self.steps, self.length = deque(maxlen=capacity), length

    def add(self, obs, action, reward, next_obs):
        self.steps.append((obs, action, reward, next_obs))

    def sample(self, count):
        rows = []
        for _ in range(count):
            start = random.randrange(len(self.steps) - self.length)
            rows.append([self.steps[start + k] for k in range(self.length)])
        obs = torch.stack([torch.stack([step[0] for step in row]) for row in rows])
        action = torch.tensor([[step[1] for step in row] for row in rows])
        reward = torch.tensor([[step[2] for step in row] for row in rows])
        after = torch.stack([torch.stack([step[3] for step in row]) for row in rows])
        return obs, action, reward, after


class Agent:
    def __init__(self):
        self.net = DRQN()
        self.target = copy.deepcopy(self.net)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=2e-3)
        self.memory = SequenceMemory(capacity=400, length=8)
        self.hidden = None

    def act(self, obs, epsilon):
        with torch.no_grad():
            q, self.hidden = self.net(obs.view(1, 1, -1), self.hidden)
        if random.random() < epsilon:
            return random.randrange(2)
        return q.argmax().item()

    def learn(self, batch_size=16, gamma=0.9):
        obs, action, reward, after = self.memory.sample(batch_size)
        with torch.no_grad():
            best = self.target(after)[0].amax(-1)
        chosen = self.net(obs)[0].gather(-1, action.unsqueeze(-1)).squeeze(-1)
        loss = F.smooth_l1_loss(chosen, reward + gamma * best)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


env, agent = Thermostat(), Agent()
obs = env.sense()
for step in range(300):
    action = agent.act(obs, epsilon=max(0.1, 1 - step / 150))
    next_obs, reward = env.step(action)
    agent.memory.add(obs, action, reward, next_obs)
    obs = next_obs
    if step >= 40 and step % 3 == 0:
        loss = agent.learn()
    if step % 20 == 0:
        agent.target.load_state_dict(agent.net.state_dict())
print("last loss", loss)
