"""A shared trunk; each head's gradient is computed apart and they are summed by hand."""

import torch
from torch import nn

torch.manual_seed(0)
trunk, policy, value = nn.Linear(4, 16), nn.Linear(16, 2), nn.Linear(16, 1)
params = [*trunk.parameters(), *policy.parameters(), *value.parameters()]
opt = torch.optim.Adam(params, lr=1e-2)
for _ in range(40):
    s = torch.randn(16, 4)
    h = torch.tanh(trunk(s))
    dist = torch.distributions.Categorical(logits=policy(h))
    a = dist.sample()
    r = torch.where(a == 1, s[:, 0], -s[:, 0])
    v = value(h).squeeze(1)
    opt.zero_grad()
    (v - r).pow(2).mean().backward(retain_graph=True)
    first = [p.grad for p in params]
    opt.zero_grad()
    loss = -(dist.log_prob(a) * (r - v.detach())).mean()
    loss.backward()
    for p, g in zip(params, first):
        if g is not None:
            p.grad = g if p.grad is None else p.grad + g
    opt.step()
print(float(loss))
