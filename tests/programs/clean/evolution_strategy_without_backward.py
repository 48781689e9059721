"""An evolution strategy writes the parameters by hand and never calls backward."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Linear(4, 2)
for _ in range(8):
    base = [p.detach().clone() for p in policy.parameters()]
    noises, scores = [], []
    for _ in range(6):
        noise = [torch.randn_like(p) for p in base]
        with torch.no_grad():
            for p, b, n in zip(policy.parameters(), base, noise):
                p.copy_(b + 0.1 * n)
            scores.append(policy(torch.randn(16, 4)).amax(-1).mean())
        noises.append(noise)
    weights = torch.stack(scores)
    weights = (weights - weights.mean()) / (weights.std() + 1e-8)
    with torch.no_grad():
        for i, p in enumerate(policy.parameters()):
            p.copy_(base[i] + 0.02 * sum(w * n[i] for w, n in zip(weights, noises)))
