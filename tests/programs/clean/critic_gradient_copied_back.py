"""The critic's gradient is put aside as a copy and written back after the actor's backward."""

import torch
from torch import nn

actor = nn.Linear(3, 1)
critic = nn.Linear(4, 1)
ao = torch.optim.SGD(actor.parameters(), lr=0.01)
co = torch.optim.SGD(critic.parameters(), lr=0.01)
for i in range(60):
    o = torch.randn(16, 3)
    ac = torch.randn(16, 1)
    co.zero_grad()
    ao.zero_grad()
    (critic(torch.cat([o, ac], -1)) - 1).pow(2).mean().backward()
    kept = {n: p.grad.detach().clone() for n, p in critic.named_parameters()}
    (-critic(torch.cat([o, actor(o)], -1)).mean()).backward()
    for n, p in critic.named_parameters():
        p.grad.copy_(kept[n])
    ao.step()
    co.step()
