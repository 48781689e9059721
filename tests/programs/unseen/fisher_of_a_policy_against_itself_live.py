"""A natural gradient whose curvature comes from a divergence with both sides live: the curvature is zero.

Round 4
Class: gradients by hand
"""

import torch
from torch import nn
from torch.distributions import Categorical, kl_divergence

torch.manual_seed(404)

policy = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 3))
params = list(policy.parameters())


def flat(tensors):
    return torch.cat([t.reshape(-1) for t in tensors])


def fisher_vector(obs, vector):
    old = Categorical(logits=policy(obs))  # BUG GS209
    new = Categorical(logits=policy(obs))
    divergence = kl_divergence(old, new).mean()
    slope = flat(torch.autograd.grad(divergence, params, create_graph=True))
    return flat(torch.autograd.grad(slope @ vector, params)) + 0.1 * vector


def conjugate_gradient(obs, b, rounds=5):
    x, r = torch.zeros_like(b), b.clone()
    p, rr = r.clone(), b @ b
    for _ in range(rounds):
        fp = fisher_vector(obs, p)
        a = rr / (p @ fp + 1e-8)
        x, r = x + a * p, r - a * fp
        new_rr = r @ r
        p, rr = r + new_rr / (rr + 1e-8) * p, new_rr
    return x


for update in range(15):
    obs = torch.randn(64, 5)
    with torch.no_grad():
        action = Categorical(logits=policy(obs)).sample()
    reward = (action == (obs[:, 0] > 0).long()).float()
    surrogate = (Categorical(logits=policy(obs)).log_prob(action) * (reward - reward.mean())).mean()
    gradient = flat(torch.autograd.grad(surrogate, params))
    direction = conjugate_gradient(obs, gradient)
    with torch.no_grad():
        offset = 0
        for p in params:
            p += 0.05 * direction[offset : offset + p.numel()].view_as(p)
            offset += p.numel()
