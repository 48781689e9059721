"""Offline learning in three shards: the critic's loss of each is the root of its mean squared error. For the log they are
averaged in the memory of the first, through `.data` so that nothing complains, before the backward, which divides by
the root that the first shard no longer has.

Round 17
Class: hidden writes
"""

import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1712)
rng = np.random.default_rng(1712)
OBS, ACT, SHARDS, GAMMA, TAU, ALPHA = 5, 2, 3, 0.95, 0.01, 2.5


def mlp(inputs, outputs, *tail):
    return nn.Sequential(nn.Linear(inputs, 48), nn.ReLU(), nn.Linear(48, outputs), *tail)


def mean_over_shards(values):
    """One number for the log."""
    total = values[0].detach().clone()
    for value in values[1:]:
        total.add_(value.data)
    return total.div_(len(values)).item()


class Shard:
    """A part of the recordings; the parts come from drivers of different skill."""

    def __init__(self, noise, size=300):
        obs = rng.standard_normal((size, OBS))
        action = np.clip(np.tanh(obs[:, :ACT]) + noise * rng.standard_normal((size, ACT)), -1, 1)
        reward = -((action - np.tanh(obs[:, :ACT])) ** 2).sum(1) * (1 + 2 * noise)
        after = 0.7 * obs + 0.4 * rng.standard_normal((size, OBS))
        done = rng.random(size) < 0.05
        self.arrays = [x.astype(np.float32) for x in (obs, action, reward, after, done)]

    def sample(self, size=32):
        rows = rng.integers(len(self.arrays[0]), size=size)
        return [torch.from_numpy(array[rows]) for array in self.arrays]


class OfflineLearner:
    def __init__(self):
        self.actor, self.critic = mlp(OBS, ACT, nn.Tanh()), mlp(OBS + ACT, 2)
        self.slow_actor = copy.deepcopy(self.actor).requires_grad_(False)
        self.slow_critic = copy.deepcopy(self.critic).requires_grad_(False)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.updates, self.log = 0, []

    def critic_loss(self, obs, action, reward, after, done):
        with torch.no_grad():
            noise = (0.2 * torch.randn_like(action)).clamp(-0.5, 0.5)
            ahead = (self.slow_actor(after) + noise).clamp(-1, 1)
            best = self.slow_critic(torch.cat([after, ahead], -1)).amin(-1)
            target = reward + GAMMA * (1 - done) * best
        values = self.critic(torch.cat([obs, action], -1))
        return F.mse_loss(values, target.unsqueeze(-1).expand_as(values)).sqrt()

    def actor_loss(self, obs, action):
        mine = self.actor(obs)
        value = self.critic(torch.cat([obs, mine], -1))[:, 0]
        return F.mse_loss(mine, action) - ALPHA * value.mean() / value.abs().mean().detach()

    def train(self, shards):
        batches = [shard.sample() for shard in shards]
        losses = [self.critic_loss(*batch) for batch in batches]
        loss = torch.stack(losses).mean()
        self.log.append(mean_over_shards(losses))
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()
        self.updates += 1
        if self.updates % 2 == 0:
            obs, action = (torch.cat(column) for column in list(zip(*batches))[:2])
            self.actor_optimizer.zero_grad()
            self.actor_loss(obs, action).backward()
            self.actor_optimizer.step()
            self.follow()

    @torch.no_grad()
    def follow(self):
        for slow, fast in ((self.slow_actor, self.actor), (self.slow_critic, self.critic)):
            for target, source in zip(slow.parameters(), fast.parameters()):
                target.lerp_(source, TAU)


learner, shards = OfflineLearner(), [Shard(noise) for noise in (0.1, 0.5, 1.0)]
for _ in range(60):
    learner.train(shards)
print(f"critic {np.mean(learner.log[:10]):.3f} → {np.mean(learner.log[-10:]):.3f}")
