"""AIRL: reward and shaping, γ·h(s') − h(s), are learned together, and all of it is live by intention."""

import torch
from torch import nn


def network():
    return nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))


torch.manual_seed(0)
reward, shaping = network(), network()
optimizer = torch.optim.Adam([*reward.parameters(), *shaping.parameters()], lr=1e-3)


def logit(obs, following, log_prob):
    return reward(obs) + 0.95 * shaping(following) - shaping(obs) - log_prob


for _ in range(24):
    expert, own = torch.randn(32, 2) + 1, torch.randn(32, 2)
    of_expert = logit(expert, 0.9 * expert, torch.full((32, 1), -1.0))
    of_own = logit(own, 0.9 * own, torch.full((32, 1), -1.0))
    loss = nn.functional.softplus(-of_expert).mean() + nn.functional.softplus(of_own).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
