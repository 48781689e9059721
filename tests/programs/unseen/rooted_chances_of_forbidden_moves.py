"""A policy for a lift is learned from logged calls by inverse propensities, with a Tsallis bonus against
early certainty. Forbidden floors have the probability zero, whose root has an infinite slope, and every
weight becomes NaN at once.

Round 34
Class: magnitude
"""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    features: int = 6
    floors: int = 5
    logged: int = 1024
    batch: int = 64
    updates: int = 120
    order: float = 0.5
    bonus: float = 0.02
    lr: float = 3e-3


def make_log(cfg):
    """Calls with their allowed floors, the floor the old program took, its propensity and what it earned."""
    calls = torch.randn(cfg.logged, cfg.features)
    allowed = torch.rand(cfg.logged, cfg.floors) < 0.7
    allowed[:, 0] = True
    taste = torch.randn(cfg.features, cfg.floors)
    old_chances = (0.3 * calls @ taste).masked_fill(~allowed, -torch.inf).softmax(1)
    taken = torch.multinomial(old_chances, 1).squeeze(1)
    propensity = old_chances.gather(1, taken[:, None]).squeeze(1)
    reward = torch.sigmoid((calls @ taste).gather(1, taken[:, None]).squeeze(1))
    return calls, allowed, taken, propensity, reward


class LiftPolicy(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(cfg.features, 32), nn.ReLU(), nn.Linear(32, cfg.floors))

    def forward(self, calls, allowed):
        scores = self.body(calls).masked_fill(~allowed, -torch.inf)
        return torch.softmax(scores, dim=1)


def tsallis_entropy(chances, order):
    powers = chances.pow(order)  # BUG GS503
    return (powers.sum(dim=1) - 1) / (1 - order)


def train(cfg):
    calls, allowed, taken, propensity, reward = make_log(cfg)
    policy = LiftPolicy(cfg)
    optimizer = torch.optim.Adam(policy.parameters(), lr=cfg.lr)
    mean_reward = reward.mean()
    for _ in range(cfg.updates):
        rows = torch.randint(cfg.logged, (cfg.batch,))
        chances = policy(calls[rows], allowed[rows])
        chosen = chances.gather(1, taken[rows, None]).squeeze(1)
        weight = chosen / propensity[rows].clamp(min=0.05)
        gain = (weight * (reward[rows] - mean_reward)).mean()
        entropy = tsallis_entropy(chances, cfg.order).mean()  # BUG GS503
        loss = -gain - cfg.bonus * entropy
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()

    with torch.no_grad():
        chances = policy(calls, allowed)
        chosen = chances.gather(1, taken[:, None]).squeeze(1)
        worth = (chosen / propensity * reward).mean()
    print(f"estimated worth {worth:.3f}, of the old program {reward.mean():.3f}")


torch.manual_seed(342)
train(Config())
