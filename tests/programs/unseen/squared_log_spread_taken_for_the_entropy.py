"""A Gaussian policy writes its entropy out by hand: the logarithm of the variance, twice the logarithm of the spread, has
become its square. Below a spread of one the square grows where the spread shrinks: the bonus pays for certainty.

Round 17
Class: meaning
"""

import math

import numpy as np
import torch
from torch import nn

torch.manual_seed(1704)
rng = np.random.default_rng(1704)
OBS, ACT, ENVS, STEPS, GAMMA, LAMBDA = 4, 2, 6, 20, 0.97, 0.9


class Tracking:
    """Follow a target that wanders; an episode is over where the follower has lost it."""

    def __init__(self):
        self.obs = rng.standard_normal((ENVS, OBS)).astype(np.float32)

    def step(self, action):
        gap = self.obs[:, :2] - 0.4 * np.clip(action, -2, 2) + 0.1 * rng.standard_normal((ENVS, 2))
        reward = (1.0 - np.abs(gap).sum(1)).astype(np.float32)
        done = np.abs(gap).max(1) > 3.0
        self.obs = np.concatenate([gap, action[:, :2]], 1).astype(np.float32)
        self.obs[done] = rng.standard_normal((int(done.sum()), OBS))
        return reward, done.astype(np.float32)


class GaussianHead(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.mu = nn.Linear(inputs, ACT)
        self.log_sigma = nn.Parameter(torch.full((1, ACT), -0.6))

    def forward(self, x):
        mu = self.mu(x)
        return GaussianInstance(mu, self.log_sigma.expand_as(mu))


class GaussianInstance:
    def __init__(self, mu, log_sigma):
        self.mu, self.log_sigma = mu, log_sigma

    def sample(self):
        return self.mu + self.log_sigma.exp() * torch.randn_like(self.mu)

    def log_prob(self, action):
        z = (action - self.mu) * torch.exp(-self.log_sigma)
        return (-0.5 * z.pow(2) - self.log_sigma - 0.5 * math.log(2 * math.pi)).sum(-1)

    def entropy(self):
        return 0.5 * (math.log(2 * math.pi * math.e) + self.log_sigma.square()).sum(-1)  # BUG GS802


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(OBS, 32), nn.Tanh())
        self.head = GaussianHead(32)
        self.critic = nn.Sequential(nn.Linear(OBS, 32), nn.Tanh(), nn.Linear(32, 1))

    def dist(self, obs):
        return self.head(self.actor(obs))

    def value(self, obs):
        return self.critic(obs).squeeze(-1)


@torch.no_grad()
def collect(env, model):
    rows = []
    for _ in range(STEPS):
        obs = torch.from_numpy(env.obs.copy())
        dist = model.dist(obs)
        action = dist.sample()
        reward, done = env.step(action.numpy())
        rows.append(
            (obs, action, dist.log_prob(action), model.value(obs), *map(torch.from_numpy, (reward, done)))
        )
    obs, action, log_prob, value, reward, done = (torch.stack(column) for column in zip(*rows))
    ahead, carry, advantage = model.value(torch.from_numpy(env.obs.copy())), torch.zeros(ENVS), []
    for t in reversed(range(STEPS)):
        delta = reward[t] + GAMMA * (1 - done[t]) * ahead - value[t]
        carry = delta + GAMMA * LAMBDA * (1 - done[t]) * carry
        advantage.insert(0, carry)
        ahead = value[t]
    advantage = torch.stack(advantage)
    batch = [x.flatten(0, 1) for x in (obs, action, log_prob, advantage, advantage + value)]
    return batch, reward.mean().item()


def update(model, optimizer, batch):
    obs, action, old, advantage, returns = batch
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    for _ in range(3):
        dist = model.dist(obs)
        ratio = (dist.log_prob(action) - old).exp()
        surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        value_loss = (model.value(obs) - returns).pow(2).mean()
        loss = -surrogate + 0.5 * value_loss - 0.02 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()


env, model = Tracking(), ActorCritic()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for iteration in range(30):
    batch, reward = collect(env, model)
    update(model, optimizer, batch)
    if iteration % 10 == 9:
        print(f"{iteration + 1}: reward {reward:.3f}, spread {model.head.log_sigma.exp().mean().item():.3f}")
