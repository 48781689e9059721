"""Implicit Q-learning on a logged dataset. The value function sees the smaller of two frozen critics, and
every loss trains its own network only.

Round 32
Class: the line
"""

import copy

import numpy as np
import torch
from torch import nn

GAMMA, EXPECTILE, BETA, TAU, MAX_WEIGHT = 0.95, 0.8, 3.0, 0.02, 50.0


def log_data(n, seed=5):
    """A sleepy operator walks on a line until the exit at +1 (paid) or at -1 (not paid)."""
    rng = np.random.default_rng(seed)
    rows, x = [], 0.0
    for _ in range(n):
        a = float(np.clip(rng.normal(0.3, 0.6), -1, 1))
        x2 = x + 0.25 * a
        over = abs(x2) >= 1.0
        r = (2.0 if x2 >= 1.0 else 0.0) - 0.05
        rows.append((x, a, r, x2, float(over)))
        x = rng.uniform(-0.8, 0.8) if over else x2
    return torch.tensor(rows, dtype=torch.float32)


def net(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 48), nn.Tanh(), nn.Linear(48, n_out))


class IQL:
    def __init__(self, lr=3e-3):
        self.critics = nn.ModuleList([net(2, 1), net(2, 1)])
        self.targets = copy.deepcopy(self.critics).requires_grad_(False)
        self.value = net(1, 1)
        self.actor = net(1, 1)
        self.log_std = nn.Parameter(torch.tensor([-0.5]))
        self.optimizers = [
            torch.optim.Adam(self.critics.parameters(), lr=lr),
            torch.optim.Adam(self.value.parameters(), lr=lr),
            torch.optim.Adam([*self.actor.parameters(), self.log_std], lr=lr),
        ]

    def losses(self, s, a, r, s2, over):
        sa = torch.cat([s, a], -1)
        v = self.value(s)
        q = torch.min(self.targets[0](sa), self.targets[1](sa))
        adv = q - v
        weight = torch.where(adv > 0, EXPECTILE, 1 - EXPECTILE)
        v_loss = (weight * adv.pow(2)).mean()

        with torch.no_grad():
            y = r + GAMMA * (1 - over) * self.value(s2)
        q_loss = sum((critic(sa) - y).pow(2).mean() for critic in self.critics)

        policy = torch.distributions.Normal(torch.tanh(self.actor(s)), self.log_std.exp())
        adv_weight = (BETA * adv.detach()).exp().clamp(max=MAX_WEIGHT)
        pi_loss = -(adv_weight * policy.log_prob(a)).mean()
        return v_loss, q_loss, pi_loss

    def train(self, batch):
        losses = self.losses(*batch.split(1, dim=-1))
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        sum(losses).backward()
        for optimizer in self.optimizers:
            optimizer.step()
        with torch.no_grad():
            for p, t in zip(self.critics.parameters(), self.targets.parameters()):
                t.lerp_(p, TAU)
        return [loss.item() for loss in losses]


torch.manual_seed(5)
data = log_data(3000)
agent = IQL()
for step in range(200):
    batch = data[torch.randint(len(data), (128,))]
    v_loss, q_loss, pi_loss = agent.train(batch)
    if step % 50 == 0:
        print(f"step {step}: v {v_loss:.4f} q {q_loss:.4f} pi {pi_loss:.4f}")
