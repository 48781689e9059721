"""PPO's clipped value loss written by hand: the stored values are [B], the new ones [B, 1]."""

import torch
from torch import nn

torch.manual_seed(0)


class Value(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, obs):
        return self.net(obs).squeeze(-1)


value = Value()
optimizer = torch.optim.Adam(value.parameters(), lr=1e-3)
for _ in range(12):
    obs, returns, stored = torch.randn(16, 4), torch.randn(16), torch.randn(16)
    new = value(obs)
    clipped = stored + (new - stored).clamp(-0.2, 0.2)
    loss = 0.5 * torch.max((new - returns) ** 2, (clipped - returns) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
