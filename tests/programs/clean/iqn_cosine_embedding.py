"""Implicit quantile network: sampled taus on both sides."""

import copy

import torch
from torch import nn

torch.manual_seed(0)


class IQN(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.cosine = nn.Linear(4, 16), nn.Linear(8, 16)
        self.out = nn.Linear(16, 2)
        self.register_buffer("pi", torch.pi * torch.arange(8.0))

    def forward(self, obs, taus):
        phi = torch.relu(self.cosine(torch.cos(taus[..., None] * self.pi)))
        return self.out(torch.relu(self.body(obs))[:, None] * phi)


net = IQN()
slow = copy.deepcopy(net)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
rows = torch.arange(16)
for _ in range(12):
    obs, action, reward, next_obs = (
        torch.randn(16, 4),
        torch.randint(2, (16,)),
        torch.randn(16),
        torch.randn(16, 4),
    )
    taus, next_taus = torch.rand(16, 6), torch.rand(16, 5)
    now = net(obs, taus)[rows, :, action]
    with torch.no_grad():
        after = slow(next_obs, next_taus)
        wanted = reward[:, None] + 0.9 * after[rows, :, after.mean(1).argmax(1)]
    error = wanted[:, None, :] - now[:, :, None]
    huber = torch.where(error.abs() < 1, 0.5 * error.pow(2), error.abs() - 0.5)
    loss = ((taus[..., None] - (error < 0).float()).abs() * huber).mean(2).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch._foreach_lerp_([p.data for p in slow.parameters()], [p.data for p in net.parameters()], 0.05)
