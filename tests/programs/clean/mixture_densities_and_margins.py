"""Sums in an exponent: densities of a mixture, a squashed one, a margin between two passes against a label."""

import torch
from torch import nn
from torch.distributions import Categorical, Normal

torch.manual_seed(0)
gate, mean, spread, score = nn.Linear(4, 3), nn.Linear(4, 3), nn.Linear(4, 3), nn.Linear(4, 1)
networks = (gate, mean, spread, score)
optimizer = torch.optim.Adam([p for net in networks for p in net.parameters()], lr=1e-3)
sigma = torch.tensor([0.5, 1.0, 2.0])


def by_hand(x, a):
    logits = gate(x)
    log_pi = logits - logits.logsumexp(1, keepdim=True)
    log_parts = log_pi - 0.5 * ((a - mean(x)) / sigma) ** 2 - torch.log(sigma)
    largest = log_parts.max(1, keepdim=True).values
    return -(largest.squeeze(1) + torch.log(torch.exp(log_parts - largest).sum(1))).mean()


def squashed(x, a):
    parts = Normal(mean(x), nn.functional.softplus(spread(x)) + 0.1)
    log_parts = parts.log_prob(torch.atanh(a)) - torch.log(1 - a.pow(2) + 1e-6)
    return -torch.logsumexp(Categorical(logits=gate(x)).logits + log_parts, 1).mean()


def margin(x, other):
    preferred = (x.sum(-1) > other.sum(-1)).float()
    difference = (score(x) - score(other)).squeeze(-1)
    return nn.functional.binary_cross_entropy_with_logits(difference, preferred)


for update in range(30):
    x, action = torch.randn(32, 4), torch.randn(32, 1)
    loss = by_hand(x, action) + squashed(x, 0.9 * action.tanh()) + margin(x, torch.randn(32, 4))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
