"""Evolution of agents: a clone gets new networks but takes the optimizer object of its parent.

Class: late and rare
"""

import torch
from torch import nn

torch.manual_seed(149)
WEIGHT = torch.randn(4)


class Individual:
    def __init__(self, lr):
        self.lr = lr
        self.value = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1))
        self.optimizer = torch.optim.Adam(self.value.parameters(), lr=lr)
        self.fitness = 0.0

    def clone(self):
        child = Individual(self.lr * 1.1)
        child.value.load_state_dict(self.value.state_dict())
        child.optimizer = self.optimizer  # BUG GS206 GS205
        return child

    def learn(self, updates=40):
        for _ in range(updates):
            obs = torch.randn(16, 4)
            loss = (self.value(obs).squeeze(-1) - torch.relu(obs @ WEIGHT)).pow(2).mean()
            self.value.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.fitness = -loss.item()


population = [Individual(lr) for lr in (1e-3, 3e-3)]
for generation in range(6):
    for individual in population:
        individual.learn()
    if generation >= 3:
        elite = max(population, key=lambda i: i.fitness)
        population = [elite, elite.clone()]
print([round(i.fitness, 3) for i in population])
