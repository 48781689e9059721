"""A policy is conditioned on its task by a scale that starts at zero, in front of a layer that starts at zero.
Repaired here.

Round 11
Class: zero in part
"""

import torch
from torch import nn

torch.manual_seed(1105)


class Conditioned(nn.Module):
    def __init__(self, tasks=3):
        super().__init__()
        self.base = nn.Linear(6, 4)
        self.features = nn.Sequential(nn.Linear(6, 16), nn.Tanh())
        self.scale = nn.Parameter(torch.ones(tasks, 16))
        self.out = nn.Linear(16, 4, bias=False)
        nn.init.zeros_(self.out.weight)

    def forward(self, obs, task):
        return self.base(obs) + self.out(self.features(obs) * self.scale[task])


policy = Conditioned()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for update in range(120):
    obs, task = torch.randn(48, 6), torch.randint(3, (48,))
    dist = torch.distributions.Categorical(logits=policy(obs, task))
    action = dist.sample()
    reward = (action == task).float()
    loss = -(dist.log_prob(action) * (reward - reward.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
