"""RL with a cloning term whose weight fades to zero; the reference policy is a frozen copy."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
for _ in range(25):
    s = torch.randn(32, 4)
    loss = nn.functional.cross_entropy(policy(s), s[:, :3].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
reference = copy.deepcopy(policy).requires_grad_(False)
for step in range(60):
    s = torch.randn(32, 4)
    dist = torch.distributions.Categorical(logits=policy(s))
    a = dist.sample()
    r = (a == s[:, :3].argmax(1)).float()
    anchor = torch.distributions.Categorical(logits=reference(s))
    kl = torch.distributions.kl_divergence(dist, anchor).mean()
    loss = -(dist.log_prob(a) * (r - r.mean())).mean() + max(0.0, 1 - step / 40) * kl
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(loss))
