"""Features are divided by their own deviation; one input channel is constant, and the root of zero has no slope.
Repaired here.

Round 3
Class: magnitude
"""

import torch
from torch import nn

torch.manual_seed(314)


class Normalised(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(5, 8, bias=False)
        self.out = nn.Linear(8, 1)
        with torch.no_grad():
            self.embed.weight[0] = torch.tensor([0.0, 0.0, 0.0, 0.0, 1.0])

    def forward(self, obs):
        h = self.embed(obs)
        centred = h - h.mean(0)
        scale = (centred.pow(2).mean(0) + 1e-6).sqrt()
        return self.out(centred / (scale + 1e-3)).squeeze(-1)


net = Normalised()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(30):
    obs = torch.cat([torch.randn(32, 4), torch.zeros(32, 1)], -1)
    loss = (net(obs) - obs.sum(-1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
