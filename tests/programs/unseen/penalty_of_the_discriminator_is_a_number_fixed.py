"""Adversarial imitation: the discriminator's gradient penalty is asked for without a graph of its own.
Repaired here.

Round 4
Class: gradients by hand
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(403)

discriminator = nn.Sequential(nn.Linear(6, 32), nn.Softplus(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(discriminator.parameters(), lr=1e-3)


def gradient_penalty(expert, agent):
    mix = torch.rand(len(expert), 1)
    between = (mix * expert + (1 - mix) * agent).requires_grad_(True)
    score = discriminator(between).sum()
    (slope,) = torch.autograd.grad(score, between, create_graph=True)
    return (slope.norm(dim=1) - 1).pow(2).mean()


for update in range(40):
    expert = torch.randn(32, 6) + 1.0
    agent = torch.randn(32, 6)
    real, fake = discriminator(expert), discriminator(agent)
    loss = F.binary_cross_entropy_with_logits(real, torch.ones_like(real))
    loss = loss + F.binary_cross_entropy_with_logits(fake, torch.zeros_like(fake))
    loss = loss + 10.0 * gradient_penalty(expert, agent)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
