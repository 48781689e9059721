"""A mixture of expert policies: the gate is compared with a threshold, so the router gets nothing.
Repaired here.

Round 4
Class: zero in part
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(407)


class Experts(nn.Module):
    def __init__(self, obs=6, actions=4, experts=3):
        super().__init__()
        self.router = nn.Linear(obs, experts)
        self.experts = nn.ModuleList([nn.Linear(obs, actions) for _ in range(experts)])

    def forward(self, obs):
        gate = torch.softmax(self.router(obs), -1)
        chosen = (gate >= gate.max(-1, keepdim=True).values).float() * gate
        answers = torch.stack([e(obs) for e in self.experts], 1)
        return Categorical(logits=(chosen.unsqueeze(-1) * answers).sum(1))


policy = Experts()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for update in range(60):
    obs = torch.randn(48, 6)
    dist = policy(obs)
    action = dist.sample()
    reward = (action == obs[:, :4].argmax(-1)).float()
    loss = -(dist.log_prob(action) * (reward - reward.mean())).mean() - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
