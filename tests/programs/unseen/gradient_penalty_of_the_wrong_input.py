"""A discriminator's gradient penalty asks for the derivative with respect to the expert's pairs, but scores the
mixture.

Round 2
Class: forward errors
"""

import torch
from torch import autograd, nn

torch.manual_seed(205)


class Discriminator(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(dim, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, pair):
        return self.trunk(pair).squeeze(-1)

    def penalty(self, expert, policy, weight=10.0):
        alpha = torch.rand(expert.shape[0], 1)
        expert = expert.clone().requires_grad_(True)
        mixed = alpha * expert.detach() + (1 - alpha) * policy  # BUG GS202 GS201
        score = self(mixed)
        (gradient,) = autograd.grad(
            outputs=score,
            inputs=expert,
            grad_outputs=torch.ones_like(score),
            create_graph=True,
        )
        return weight * (gradient.norm(2, dim=1) - 1).pow(2).mean()


disc = Discriminator(6)
optimizer = torch.optim.Adam(disc.parameters(), lr=1e-3)
for _ in range(25):
    expert, policy = torch.randn(32, 6) + 1.0, torch.randn(32, 6)
    expert_loss = nn.functional.softplus(-disc(expert)).mean()
    policy_loss = nn.functional.softplus(disc(policy)).mean()
    loss = expert_loss + policy_loss + disc.penalty(expert, policy)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
