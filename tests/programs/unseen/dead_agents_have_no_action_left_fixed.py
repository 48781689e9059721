"""Agents that are dead have the logarithm of zero added to all their logits: the softmax of such a row is not a number.
Repaired here.

Round 9
Class: magnitude
"""

import torch
from torch import nn

torch.manual_seed(917)


class MaskedPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4))

    def log_probs(self, obs, available):
        logits = self.net(obs)
        logits = logits + available.float().clamp(min=1e-9).log()
        return torch.log_softmax(logits, -1)


policy = MaskedPolicy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for update in range(12):
    obs = torch.randn(20, 3, 6)
    alive = torch.rand(20, 3) > 0.1
    available = (torch.rand(20, 3, 4) > 0.2) & alive[..., None]
    available[..., 0] |= alive
    action = available.float().argmax(-1)
    logp = policy.log_probs(obs, available).gather(-1, action[..., None]).squeeze(-1)
    weight = torch.randn(20, 3) * alive
    loss = -torch.where(alive, logp * weight, 0.0).sum() / alive.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
