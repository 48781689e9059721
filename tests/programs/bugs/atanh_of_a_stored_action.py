"""Behaviour cloning of a squashed Gaussian on stored actions that touch the bounds."""

import torch
from torch import nn

torch.manual_seed(0)


class Squashed(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)

    def log_prob(self, obs, action):
        mean, log_std = self.net(obs).chunk(2, -1)
        dist = torch.distributions.Normal(mean, log_std.clamp(-5, 2).exp())
        raw = torch.atanh(action)  # BUG GS503
        return (dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)).sum(-1)


policy = Squashed()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for _ in range(6):
    obs = torch.randn(16, 4)
    action = (2.0 * torch.randn(16, 2)).clamp(-1.0, 1.0)
    loss = -policy.log_prob(obs, action).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
