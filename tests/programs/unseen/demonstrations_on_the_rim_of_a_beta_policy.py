"""Cloning with a Beta policy: the expert's controller saturates, its actions lie exactly on the limits, and the Beta
density has log 0 there. After tensorforce/tensorforce#94 (NaN with a Beta policy) and openai/baselines#121 (can the
Beta be asked about 0 or 1).

Round 27
Class: magnitude
"""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Beta

SEED = 2714
LOW, HIGH = -2.0, 2.0


class Boat:
    """Drive a boat to the buoy against a current; the rudder is limited."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.x = self.rng.uniform(-2, 2)
        self.v = 0.0
        self.current = self.rng.uniform(-0.3, 0.3)
        return self.obs()

    def obs(self):
        return np.array([self.x, self.v, self.current], dtype=np.float32)

    def step(self, force):
        self.v = 0.8 * self.v + 0.1 * force + 0.1 * self.current
        self.x += self.v
        return self.obs(), -abs(self.x)


def expert(obs):
    x, v, current = obs
    return float(np.clip(-3.0 * x - 2.0 * v - current, LOW, HIGH))


def collect(env, episodes, length=20):
    observations, actions = [], []
    for _ in range(episodes):
        obs = env.reset()
        for _ in range(length):
            action = expert(obs)
            observations.append(obs)
            actions.append([action])
            obs, _ = env.step(action)
    return torch.from_numpy(np.stack(observations)), torch.tensor(actions)


class BetaPolicy(nn.Module):
    def __init__(self, obs_dim=3, act_dim=1, hidden=48):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(obs_dim, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh()
        )
        self.alpha = nn.Linear(hidden, act_dim)
        self.beta = nn.Linear(hidden, act_dim)

    def dist(self, obs):
        h = self.trunk(obs)
        return Beta(F.softplus(self.alpha(h)) + 1.0, F.softplus(self.beta(h)) + 1.0)

    def log_prob(self, obs, action):
        unit = (action - LOW) / (HIGH - LOW)  # BUG GS503
        return self.dist(obs).log_prob(unit).sum(-1)  # BUG GS503

    @torch.no_grad()
    def act(self, obs):
        return LOW + (HIGH - LOW) * self.dist(torch.from_numpy(obs)).mean.item()


def evaluate(policy, env, length=20):
    obs, total = env.reset(), 0.0
    for _ in range(length):
        obs, reward = env.step(policy.act(obs))
        total += reward
    return total


def main():
    torch.manual_seed(SEED)
    env = Boat(np.random.default_rng(SEED))
    observations, actions = collect(env, episodes=20)
    policy = BetaPolicy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=2e-3)
    for epoch in range(8):
        losses = []
        for rows in torch.randperm(len(actions)).split(50):
            loss = -policy.log_prob(observations[rows], actions[rows]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(epoch, np.mean(losses), evaluate(policy, env))


main()
