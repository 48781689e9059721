"""PCGrad: one gradient per task, projected, written into .grad by hand."""

import torch
from torch import nn

torch.manual_seed(0)
trunk = nn.Sequential(nn.Linear(4, 16), nn.ReLU())
heads = nn.ModuleDict({task: nn.Linear(16, 1) for task in ("reach", "push", "pick")})
optimizer = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], lr=1e-3)
shared = list(trunk.parameters())
for _ in range(10):
    optimizer.zero_grad()
    gradients = []
    for head in heads.values():
        loss = (head(trunk(torch.randn(16, 4))).squeeze(-1) - torch.randn(16)).pow(2).mean()
        own = list(head.parameters())
        found = torch.autograd.grad(loss, [*shared, *own])
        for p, g in zip(own, found[len(shared) :]):
            p.grad = g
        gradients.append(torch.cat([g.flatten() for g in found[: len(shared)]]))
    merged = torch.zeros_like(gradients[0])
    for i, g in enumerate(gradients):
        g = g.clone()
        for j, other in enumerate(gradients):
            if i != j and (dot := g @ other) < 0:
                g -= dot / other.pow(2).sum() * other
        merged += g
    offset = 0
    for p in shared:
        p.grad = merged[offset : offset + p.numel()].view_as(p).clone()
        offset += p.numel()
    optimizer.step()
