"""A gradient reversal layer gives its gradient back in the place of the factor, not of the features.
Repaired here.

Round 2
Class: custom functions
"""

import torch
from torch import nn
from torch.autograd import Function

torch.manual_seed(231)


class ReverseGradient(Function):
    @staticmethod
    def forward(ctx, features, factor):
        ctx.factor = factor
        return features.view_as(features)

    @staticmethod
    def backward(ctx, grad_output):
        return -ctx.factor * grad_output, None


class DomainPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 24), nn.ReLU())
        self.policy = nn.Linear(24, 3)
        self.domain = nn.Linear(24, 2)

    def forward(self, obs, factor=0.3):
        features = self.encoder(obs)
        return self.policy(features), self.domain(ReverseGradient.apply(features, factor))


model = DomainPolicy()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(50):
    domain = torch.randint(2, (64,))
    obs = torch.randn(64, 6) + domain[:, None] * 0.5
    logits, domain_logits = model(obs)
    imitation = nn.functional.cross_entropy(logits, obs[:, :3].argmax(1))
    confusion = nn.functional.cross_entropy(domain_logits, domain)
    optimizer.zero_grad()
    (imitation + confusion).backward()
    optimizer.step()
