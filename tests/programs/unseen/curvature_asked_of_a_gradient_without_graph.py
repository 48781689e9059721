"""A natural gradient by conjugate directions: the gradient of the divergence is made without a graph of its own.

Round 9
Class: gradients by hand
"""

import torch
from torch import nn
from torch.distributions import Categorical, kl_divergence

torch.manual_seed(903)
policy = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 3))
params = list(policy.parameters())


def flat(tensors):
    return torch.cat([t.reshape(-1) for t in tensors])


def curvature(obs, vector):
    new = Categorical(logits=policy(obs))
    old = Categorical(logits=policy(obs).detach())
    first = torch.autograd.grad(kl_divergence(old, new).mean(), params)  # BUG GS201 GS202
    product = (flat(first) * vector).sum()
    return flat(torch.autograd.grad(product, params)) + 0.1 * vector  # BUG GS201 GS202


def solve(obs, b, steps=4):
    x, r = torch.zeros_like(b), b.clone()
    p, rr = r.clone(), r.dot(r)
    for _ in range(steps):
        ap = curvature(obs, p)
        a = rr / p.dot(ap)
        x, r = x + a * p, r - a * ap
        new = r.dot(r)
        p, rr = r + new / rr * p, new
    return x


for update in range(10):
    obs = torch.randn(64, 5)
    dist = Categorical(logits=policy(obs))
    action = dist.sample()
    advantage = (action == (obs[:, 0] > 0).long()).float() - 0.5
    gradient = flat(torch.autograd.grad((dist.log_prob(action) * advantage).mean(), params))
    step = 0.05 * solve(obs, gradient)
    with torch.no_grad():
        at = 0
        for p in params:
            p += step[at : at + p.numel()].view_as(p)
            at += p.numel()
