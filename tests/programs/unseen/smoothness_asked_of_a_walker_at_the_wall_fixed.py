"""A walker in a room learns with an actor-critic whose loss also asks for small changes between one push
and the next. The change is measured as the root of a sum of squares that never falls to zero.

Round 33
Class: magnitude
"""

import numpy as np
import torch
from torch import nn

GAMMA, SPREAD, SMOOTHNESS = 0.95, 0.3, 0.05


class Room:
    """A square room with a lamp in the middle; positions end at the walls. It goes on for ever."""

    def __init__(self, copies, rng):
        self.rng = rng
        self.position = rng.uniform(-1, 1, (copies, 2))

    def observe(self):
        return torch.as_tensor(self.position, dtype=torch.float32)

    def step(self, push):
        self.position = np.clip(self.position + 0.3 * push, -1, 1)
        reward = 1 - np.linalg.norm(self.position, axis=1)
        return self.observe(), torch.as_tensor(reward, dtype=torch.float32)


class Walker(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))
        self.value = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))

    def act(self, obs):
        mean = self.mean(obs)
        return mean + SPREAD * torch.randn_like(mean)

    def log_prob(self, obs, push):
        return -0.5 * ((push - self.mean(obs)) / SPREAD).pow(2).sum(-1)

    def roughness(self, obs, after):
        change = self.mean(obs) - self.mean(after)
        return (change.pow(2).sum(-1) + 1e-8).sqrt().mean()


def train(iterations=100, copies=16, seed=14):
    torch.manual_seed(seed)
    room, walker = Room(copies, np.random.default_rng(seed)), Walker()
    optimizer = torch.optim.Adam(walker.parameters(), lr=3e-3)
    obs = room.observe()
    for iteration in range(iterations):
        with torch.no_grad():
            push = walker.act(obs)
        after, reward = room.step(push.numpy())
        value = walker.value(obs).squeeze(-1)
        with torch.no_grad():
            target = reward + GAMMA * walker.value(after).squeeze(-1)
        advantage = (target - value).detach()
        actor_loss = -(walker.log_prob(obs, push) * advantage).mean()
        critic_loss = (target - value).pow(2).mean()
        loss = actor_loss + 0.5 * critic_loss + SMOOTHNESS * walker.roughness(obs, after)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(walker.parameters(), 5.0)
        optimizer.step()
        obs = after
        if iteration % 25 == 24:
            print(f"{iteration + 1}: loss {loss.item():.4f}, reward {reward.mean().item():.3f}")


train()
