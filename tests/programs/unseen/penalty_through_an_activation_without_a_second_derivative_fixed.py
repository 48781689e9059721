"""Adversarial imitation with a gradient penalty: the activation's own backward works under `no_grad`, so that the
penalty reaches only the layer below it.
Repaired here.

Round 12
Class: custom functions
"""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(1217)


class Leaky(torch.autograd.Function):
    """A leaky rectifier that keeps a mask of one byte per unit, not the input."""

    @staticmethod
    def forward(ctx, x, slope):
        positive = x > 0
        ctx.save_for_backward(positive)
        ctx.slope = slope
        return torch.where(positive, x, slope * x)

    @staticmethod
    def backward(ctx, grad):
        (positive,) = ctx.saved_tensors
        return torch.where(positive, grad, ctx.slope * grad), None


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(7, 48), nn.Linear(48, 48)
        self.score = nn.Linear(48, 1)

    def forward(self, pairs):
        hidden = Leaky.apply(self.first(pairs), 0.2)
        return self.score(Leaky.apply(self.second(hidden), 0.2)).squeeze(-1)


def penalty(judge, expert, mine):
    mix = torch.rand(len(expert), 1)
    between = (mix * expert + (1 - mix) * mine).requires_grad_()
    (slope,) = torch.autograd.grad(judge(between).sum(), between, create_graph=True)
    return (slope.norm(dim=1) - 1).pow(2).mean()


judge = Discriminator()
policy = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 2))
judge_opt = torch.optim.Adam(judge.parameters(), lr=1e-3)
policy_opt = torch.optim.Adam(policy.parameters(), lr=1e-3)
teacher = torch.randn(5, 2)

for round_ in range(50):
    seen, visited = torch.randn(40, 5), torch.randn(40, 5)
    expert = torch.cat([seen, torch.tanh(seen @ teacher)], 1)
    dist = torch.distributions.Normal(policy(visited), 0.3)
    action = dist.sample()
    mine = torch.cat([visited, action], 1)

    real, fake = judge(expert), judge(mine)
    judge_loss = F.softplus(-real).mean() + F.softplus(fake).mean() + 10.0 * penalty(judge, expert, mine)
    judge_opt.zero_grad()
    judge_loss.backward()
    judge_opt.step()

    with torch.no_grad():
        reward = -F.softplus(-judge(mine))
        reward = (reward - reward.mean()) / (reward.std() + 1e-6)
    policy_loss = -(dist.log_prob(action).sum(1) * reward).mean()
    policy_opt.zero_grad()
    policy_loss.backward()
    policy_opt.step()
print("judge", judge_loss.item(), "policy", policy_loss.item())
