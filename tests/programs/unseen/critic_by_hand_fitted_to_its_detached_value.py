"""An actor-critic that steps its parameters by hand; the critic's loss is made of the detached value.

Round 2
Class: gradients by hand
"""

import torch
from torch import nn

torch.manual_seed(207)
actor = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 2))
critic = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 1))
LR = 0.02


def descend(module):
    with torch.no_grad():
        for p in module.parameters():
            if p.grad is not None:
                p -= LR * p.grad
                p.grad = None


for _ in range(60):
    obs = torch.randn(48, 4)
    dist = torch.distributions.Categorical(logits=actor(obs))
    action = dist.sample()
    returns = (action == (obs[:, 0] > 0).long()).float()
    value = critic(obs).squeeze(-1).detach()  # BUG GS202
    advantage = returns - value
    policy_loss = -(dist.log_prob(action) * advantage).mean()
    value_loss = (returns - value).pow(2).mean()
    (policy_loss + 0.5 * value_loss).backward()
    descend(actor)
    descend(critic)
