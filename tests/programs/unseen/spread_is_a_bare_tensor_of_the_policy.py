"""A Gaussian policy of a small clipped-surrogate trainer keeps its log-spread as a tensor that requires a gradient,
and not as a parameter. The gradient comes; the optimizer is made of the module's parameters, has never heard of it, and
the policy explores as widely on the last day as on the first.

Round 19
Class: the line
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Normal


@dataclass
class Hyper:
    steps: int = 64
    iterations: int = 12
    epochs: int = 4
    minibatch: int = 32
    gamma: float = 0.95
    lam: float = 0.9
    clip: float = 0.2
    ent_coef: float = 0.001
    lr: float = 3e-3


class GaussianMLP(nn.Module):
    def __init__(self, obs_dim, act_dim, learn_std=True, init_std=1.0):
        super().__init__()
        self.mean_net = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, act_dim))
        self.value_net = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = torch.full((act_dim,), float(np.log(init_std)), requires_grad=learn_std)  # BUG GS205

    def dist(self, obs):
        return Normal(self.mean_net(obs), self.log_std.exp())

    def value(self, obs):
        return self.value_net(obs).squeeze(-1)


class Drone:
    """Two thrusters against the wind; nothing ever ends, so nothing is cut."""

    def __init__(self, rng):
        self.rng, self.x = rng, np.zeros(2)

    def obs(self):
        return torch.tensor(self.x, dtype=torch.float32)

    def step(self, action):
        self.x = 0.9 * self.x + 0.2 * np.clip(action, -2, 2) + 0.1 * self.rng.standard_normal(2)
        return -float(np.square(self.x - 0.5).sum()) - 0.01 * float(np.square(action).sum())


class PPO:
    def __init__(self, env, policy, hyper):
        self.env, self.policy, self.h = env, policy, hyper
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=hyper.lr)  # BUG GS205

    @torch.no_grad()
    def collect(self):
        obs, act, logp, rew = [], [], [], []
        for _ in range(self.h.steps):
            o = self.env.obs()
            dist = self.policy.dist(o)
            a = dist.sample()
            rew.append(self.env.step(a.numpy()))
            obs.append(o)
            act.append(a)
            logp.append(dist.log_prob(a).sum(-1))
        obs = torch.stack(obs)
        values = torch.cat([self.policy.value(obs), self.policy.value(self.env.obs()).view(1)])
        adv, running = torch.zeros(self.h.steps), 0.0
        for t in reversed(range(self.h.steps)):
            delta = rew[t] + self.h.gamma * values[t + 1] - values[t]
            running = delta + self.h.gamma * self.h.lam * running
            adv[t] = running
        return obs, torch.stack(act), torch.stack(logp), adv, adv + values[:-1], sum(rew)

    def train(self):
        for iteration in range(self.h.iterations):
            obs, act, old, adv, ret, total = self.collect()
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            for _ in range(self.h.epochs):
                for rows in torch.randperm(self.h.steps).split(self.h.minibatch):
                    dist = self.policy.dist(obs[rows])
                    ratio = (dist.log_prob(act[rows]).sum(-1) - old[rows]).exp()
                    clipped = ratio.clamp(1 - self.h.clip, 1 + self.h.clip)
                    surrogate = torch.min(ratio * adv[rows], clipped * adv[rows]).mean()
                    value_loss = (self.policy.value(obs[rows]) - ret[rows]).pow(2).mean()
                    entropy = dist.entropy().sum(-1).mean()
                    loss = -surrogate + 0.5 * value_loss - self.h.ent_coef * entropy
                    self.optimizer.zero_grad()
                    loss.backward()
                    self.optimizer.step()
            print(f"{iteration:3d} return {total:8.2f} std {self.policy.log_std.exp().mean().item():.3f}")


torch.manual_seed(1904)
PPO(Drone(np.random.default_rng(1904)), GaussianMLP(2, 2), Hyper()).train()
