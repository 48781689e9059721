"""The log-std head starts far below the clamp, where the clamp passes no gradient."""

import torch
from torch import nn

torch.manual_seed(0)


class Squashed(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.log_std = nn.Linear(4, 2), nn.Linear(4, 2)
        nn.init.zeros_(self.log_std.weight)
        nn.init.constant_(self.log_std.bias, -30.0)

    def forward(self, obs):
        log_std = self.log_std(obs).clamp(-20.0, 2.0)  # BUG GS208
        return torch.distributions.Normal(self.mean(obs), log_std.exp())


policy = Squashed()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for _ in range(14):
    obs, wanted = torch.randn(16, 4), torch.randn(16, 2)
    action = policy(obs).rsample()
    loss = (action - wanted).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
