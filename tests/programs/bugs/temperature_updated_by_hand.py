"""Discrete SAC with a hand-written ascent step on the temperature."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
log_alpha = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)


def adapt(entropy, target=0.8, lr=1e-2):
    loss = (log_alpha * (entropy.detach() - target)).mean()
    (gradient,) = torch.autograd.grad(loss, [log_alpha])
    log_alpha.sub_(lr * gradient)  # BUG GS103


for _ in range(10):
    obs, q = torch.randn(16, 4), torch.randn(16, 3)
    log_pi = torch.log_softmax(policy(obs), -1)
    pi = log_pi.exp()
    loss = (pi * (log_alpha.exp().detach() * log_pi - q)).sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    adapt(-(pi * log_pi).sum(-1))
