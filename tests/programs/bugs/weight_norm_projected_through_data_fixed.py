"""The output layer is projected to unit norm through .data after the forward of the loss."""

import torch
from torch import nn

torch.manual_seed(0)


class CosineCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(5, 16), nn.ReLU())
        self.out = nn.Linear(16, 1, bias=False)

    def forward(self, x):
        return self.out(self.features(x)).squeeze(-1)

    def project(self):
        weight = self.out.weight
        weight.data.div_(weight.data.norm())


critic = CosineCritic()
optimizer = torch.optim.SGD(critic.parameters(), lr=1e-2)
for _ in range(10):
    states, returns = torch.randn(16, 5), torch.randn(16)
    loss = (critic(states) - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    critic.project()
