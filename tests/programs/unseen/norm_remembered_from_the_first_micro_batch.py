"""Offline learning with expectiles, its batches cut into micro-batches. A bucket of gradients keeps their norm once it was
computed; the log asks for it after the first micro-batch, and when the window is full the limit is applied with the
norm of a quarter of the gradient.

Round 17
Class: gradients by hand
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1706)
OBS, ACT, SIZE, WINDOW, MICRO = 5, 2, 512, 4, 16


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs))


class GradientBucket:
    """The gradients of one network over an accumulation window."""

    def __init__(self, parameters, lr, limit):
        self.parameters = list(parameters)
        self.optimizer = torch.optim.Adam(self.parameters, lr=lr)
        self.limit, self.cached = limit, None

    def accumulate(self, loss):
        (loss / WINDOW).backward()  # BUG GS504 GS506

    def norm(self):
        if self.cached is None:  # BUG GS504 GS506
            self.cached = torch.stack([p.grad.norm() for p in self.parameters]).norm()
        return self.cached

    def step(self):
        factor = (self.limit / (self.norm() + 1e-6)).clamp(max=1.0)  # BUG GS504 GS506
        for p in self.parameters:
            p.grad.mul_(factor)  # BUG GS504 GS506
        self.optimizer.step()
        self.clear()

    def clear(self):
        self.optimizer.zero_grad()
        self.cached = None


class Dataset:
    def __init__(self):
        self.obs = torch.randn(SIZE, OBS)
        self.action = (0.5 * self.obs[:, :ACT] + 0.6 * torch.randn(SIZE, ACT)).clamp(-1, 1)
        self.reward = -8 * (self.action - self.obs[:, 1 : 1 + ACT].tanh()).square().sum(-1)
        self.after = 0.8 * self.obs + 0.3 * torch.randn(SIZE, OBS)
        self.done = (torch.rand(SIZE) < 0.1).float()

    def window(self):
        for rows in torch.randint(SIZE, (WINDOW, MICRO)):
            yield tuple(x[rows] for x in (self.obs, self.action, self.reward, self.after, self.done))


class ExpectileLearner:
    def __init__(self, expectile=0.7, temperature=0.3, gamma=0.9, tau=0.02):
        self.value, self.policy = mlp(OBS, 1), mlp(OBS, ACT)
        self.critic = mlp(OBS + ACT, 2)
        self.slow_critic = copy.deepcopy(self.critic).requires_grad_(False)
        self.buckets = {
            "value": GradientBucket(self.value.parameters(), 1e-3, 1.0),
            "critic": GradientBucket(self.critic.parameters(), 1e-3, 1.0),
            "policy": GradientBucket(self.policy.parameters(), 1e-3, 0.5),
        }
        self.expectile, self.temperature, self.gamma, self.tau = expectile, temperature, gamma, tau
        self.log = {name: [] for name in self.buckets}

    def losses(self, obs, action, reward, after, done):
        pair = torch.cat([obs, action], -1)
        with torch.no_grad():
            best = self.slow_critic(pair).amin(-1)
            target = reward + self.gamma * (1 - done) * self.value(after).squeeze(-1)
        gap = best - self.value(obs).squeeze(-1)
        weight = torch.where(gap.detach() > 0, self.expectile, 1 - self.expectile)
        likelihood = -(self.policy(obs) - action).square().sum(-1)
        confidence = (self.temperature * gap.detach()).exp().clamp(max=20.0)
        return {
            "value": (weight * gap.square()).mean(),
            "critic": F.mse_loss(self.critic(pair), target.unsqueeze(-1).expand(-1, 2)),
            "policy": -(confidence * likelihood).mean(),
        }

    def train(self, window):
        for number, rows in enumerate(window):
            for name, loss in self.losses(*rows).items():
                self.buckets[name].accumulate(loss)
            if number == 0:
                for name, bucket in self.buckets.items():
                    self.log[name].append(bucket.norm().item())  # BUG GS504 GS506
        for bucket in self.buckets.values():
            bucket.step()
        with torch.no_grad():
            for slow, fast in zip(self.slow_critic.parameters(), self.critic.parameters()):
                slow.lerp_(fast, self.tau)


learner, dataset = ExpectileLearner(), Dataset()
for _ in range(50):
    learner.train(dataset.window())
print({name: round(sum(norms[-10:]) / 10, 3) for name, norms in learner.log.items()})
