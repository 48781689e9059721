"""Bootstrapped DQN whose heads live in a plain list: parameters() does not see them."""

import torch
from torch import nn

torch.manual_seed(0)


class Bootstrapped(nn.Module):
    def __init__(self, heads=4):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 16), nn.ReLU())
        self.heads = nn.ModuleList(nn.Linear(16, 2) for _ in range(heads))

    def forward(self, obs):
        hidden = self.trunk(obs)
        return torch.stack([head(hidden) for head in self.heads])


class Learner:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)

    def update(self, obs, action, wanted):
        chosen = self.model(obs)[:, torch.arange(len(action)), action]
        loss = (chosen - wanted).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


learner = Learner(Bootstrapped())
for _ in range(20):
    learner.update(torch.randn(16, 4), torch.randint(2, (16,)), torch.randn(16))
