"""Adversarial imitation with an alternating loop. The generator's optimizer is cleared before its backward, as it should be;
for the discriminator the line was forgotten, and every one of its steps takes all gradients since the beginning.

Round 20
Class: the line
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical


class Ring:
    """Twelve seats around a table. The expert goes the short way to the seat that is called out."""

    SEATS = 12

    def start(self, n):
        return torch.randint(self.SEATS, (n, 2))

    def observe(self, state):
        angle = state.float() * (2 * math.pi / self.SEATS)
        return torch.cat([angle.cos(), angle.sin()], dim=1)

    def expert(self, state):
        ahead = (state[:, 1] - state[:, 0]) % self.SEATS
        return torch.where(ahead == 0, 1, torch.where(ahead <= self.SEATS // 2, 2, 0))

    def step(self, state, action):
        moved = (state[:, 0] + action - 1) % self.SEATS
        return torch.stack([moved, state[:, 1]], dim=1)


class Generator(nn.Module):
    def __init__(self, obs_dim=4, n_actions=3):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(obs_dim, 48), nn.Linear(48, n_actions)

    def forward(self, obs):
        return Categorical(logits=self.fc2(torch.tanh(self.fc1(obs))))


class Discriminator(nn.Module):
    def __init__(self, obs_dim=4, n_actions=3):
        super().__init__()
        self.n_actions = n_actions
        self.fc1, self.fc2 = nn.Linear(obs_dim + n_actions, 48), nn.Linear(48, 1)

    def forward(self, obs, action):
        x = torch.cat([obs, F.one_hot(action, self.n_actions).float()], dim=1)
        return self.fc2(torch.tanh(self.fc1(x))).squeeze(1)


def walk(env, act, n, steps):
    """A batch of walks, flattened; the seats that were called out do not change."""
    state, rows = env.start(n), []
    for _ in range(steps):
        obs = env.observe(state)
        action = act(state, obs)
        rows.append((obs, action))
        state = env.step(state, action)
    return torch.cat([r[0] for r in rows]), torch.cat([r[1] for r in rows])


def training_loop(iterations=60, d_repeats=2, n=10, steps=5, entropy_weight=0.01):
    torch.manual_seed(2023)
    env, generator, discriminator = Ring(), Generator(), Discriminator()
    optimizer_G = optim.Adam(generator.parameters(), lr=5e-3)
    optimizer_D = optim.Adam(discriminator.parameters(), lr=2e-3)
    agreement = []
    for _ in range(iterations):
        with torch.no_grad():
            fake_obs, fake_act = walk(env, lambda s, o: generator(o).sample(), n, steps)
            real_obs, real_act = walk(env, lambda s, o: env.expert(s), n, steps)

        # ---- discriminator
        for _ in range(d_repeats):
            fake_logits = discriminator(fake_obs, fake_act)
            real_logits = discriminator(real_obs, real_act)
            loss_fake = F.binary_cross_entropy_with_logits(fake_logits, torch.zeros_like(fake_logits))
            loss_real = F.binary_cross_entropy_with_logits(real_logits, torch.ones_like(real_logits))
            loss_D = loss_fake + loss_real
            loss_D.backward()  # BUG GS401
            optimizer_D.step()  # BUG GS401

        # ---- generator
        with torch.no_grad():
            reward = F.softplus(discriminator(fake_obs, fake_act))
            advantage = (reward - reward.mean()) / (reward.std() + 1e-6)
        dist = generator(fake_obs)
        loss_G = -(dist.log_prob(fake_act) * advantage).mean() - entropy_weight * dist.entropy().mean()
        optimizer_G.zero_grad()
        loss_G.backward()
        optimizer_G.step()
        agreement.append((dist.probs.argmax(1) == fake_act).float().mean().item())
    return loss_D.item(), agreement


final_loss, agreement = training_loop()
print("discriminator", final_loss, "certainty", agreement[-1])
