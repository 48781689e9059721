"""Three scouts with deterministic policies and critics that see everybody: an actor's loss is built once its critic
has taken its step.

Round 30
Class: the line
"""

import copy
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(3001)
torch.manual_seed(3001)

SCOUTS, LOOK, PUSH = 3, 4, 2
GAMMA, TAU, BATCH = 0.95, 0.02, 32


class Meadow:
    """Every scout walks to a flag of its own; the walk goes on until the time is up."""

    def reset(self):
        self.at = torch.rand(SCOUTS, 2) * 2 - 1
        self.flags = torch.rand(SCOUTS, 2) * 2 - 1
        return self.look()

    def look(self):
        return torch.cat([self.at, self.flags - self.at], dim=-1)

    def step(self, push):
        self.at = (self.at + 0.2 * push).clamp(-2, 2)
        rewards = -(self.at - self.flags).norm(dim=-1)
        return self.look(), rewards


class Scout:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(LOOK, 32), nn.ReLU(), nn.Linear(32, PUSH), nn.Tanh())
        joint = SCOUTS * (LOOK + PUSH)
        self.critic = nn.Sequential(nn.Linear(joint, 64), nn.ReLU(), nn.Linear(64, 1))
        self.slow_actor, self.slow_critic = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=2e-3)

    @torch.no_grad()
    def follow(self):
        for fast, slow in ((self.actor, self.slow_actor), (self.critic, self.slow_critic)):
            for p, s in zip(fast.parameters(), slow.parameters()):
                s.lerp_(p, TAU)


def judge(critic, looks, pushes):
    return critic(torch.cat([looks.flatten(1), pushes.flatten(1)], dim=1)).squeeze(1)


def train(scouts, batch):
    looks, pushes, rewards, next_looks = (torch.stack(column) for column in zip(*batch))
    with torch.no_grad():
        next_pushes = torch.stack([s.slow_actor(next_looks[:, i]) for i, s in enumerate(scouts)], dim=1)
    for i, scout in enumerate(scouts):
        with torch.no_grad():
            target = rewards[:, i] + GAMMA * judge(scout.slow_critic, next_looks, next_pushes)
        critic_loss = F.mse_loss(judge(scout.critic, looks, pushes), target)

        scout.critic_optimizer.zero_grad()
        critic_loss.backward()
        scout.critic_optimizer.step()

        own = [scout.actor(looks[:, j]) if j == i else pushes[:, j] for j in range(SCOUTS)]
        actor_loss = -judge(scout.critic, looks, torch.stack(own, dim=1)).mean()
        scout.actor_optimizer.zero_grad()
        actor_loss.backward()
        scout.actor_optimizer.step()
    for scout in scouts:
        scout.follow()


meadow, scouts, replay = Meadow(), [Scout() for _ in range(SCOUTS)], []
for episode in range(12):
    looks = meadow.reset()
    for _ in range(15):
        with torch.no_grad():
            pushes = torch.stack([s.actor(looks[i]) for i, s in enumerate(scouts)])
            pushes = (pushes + 0.3 * torch.randn_like(pushes)).clamp(-1, 1)
        next_looks, rewards = meadow.step(pushes)
        replay.append((looks, pushes, rewards, next_looks))
        looks = next_looks
        if len(replay) >= 2 * BATCH and len(replay) % 3 == 0:
            train(scouts, random.sample(replay, BATCH))
