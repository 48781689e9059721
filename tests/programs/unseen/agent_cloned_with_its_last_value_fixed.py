"""Each generation clones an agent by deepcopy, but the agent still holds the value of its last update.
Repaired here.

Class: forward errors
"""

import copy

import torch
from torch import nn

torch.manual_seed(13)


class ValueAgent:
    def __init__(self, seed):
        torch.manual_seed(seed)
        self.net = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 1))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05)
        self.score, self.last_value = 0.0, None

    def learn(self, obs, returns):
        value = self.net(obs).squeeze(-1)
        loss = (value - returns).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.score = -loss.item()
        self.last_value = value.detach()

    def clone(self):
        twin = copy.deepcopy(self)
        twin.optimizer = torch.optim.SGD(twin.net.parameters(), lr=0.05)
        return twin


weight = torch.randn(3)
population = [ValueAgent(seed) for seed in range(3)]
for generation in range(6):
    for agent in population:
        for _ in range(15):
            obs = torch.randn(16, 3)
            agent.learn(obs, torch.sin(obs @ weight))
    best = max(population, key=lambda a: a.score)
    worst = min(population, key=lambda a: a.score)
    population[population.index(worst)] = best.clone()
print([round(agent.score, 3) for agent in population])
