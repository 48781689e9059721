"""A randomised ensemble of soft critics with many updates per step. The replay buffer hands out rewards as
a flat row and the values are a column, so each prediction is regressed on the targets of the whole batch.

Round 32
Class: axes
"""

import copy
import math

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Normal

ENSEMBLE, SUBSET, UTD = 5, 2, 4
GAMMA, TAU, ALPHA, BATCH = 0.95, 0.02, 0.05, 64


class EnsembleLinear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        bound = 1 / math.sqrt(n_in)
        self.weight = nn.Parameter(torch.empty(ENSEMBLE, n_in, n_out).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(ENSEMBLE, 1, n_out))

    def forward(self, x):
        return x @ self.weight + self.bias


class Critics(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.net = nn.Sequential(EnsembleLinear(obs_dim + act_dim, 32), nn.Tanh(), EnsembleLinear(32, 1))

    def forward(self, obs, act):
        return self.net(torch.cat([obs, act], dim=-1))


class Actor(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, 2 * act_dim))

    def forward(self, obs):
        mean, log_std = self.net(obs).chunk(2, dim=-1)
        dist = Normal(mean, log_std.clamp(-5, 1).exp())
        raw = dist.rsample()
        squash = 2 * (math.log(2) - raw - nn.functional.softplus(-2 * raw))
        return torch.tanh(raw), (dist.log_prob(raw) - squash).sum(-1, keepdim=True)


class ReplayBuffer:
    def __init__(self, capacity, obs_dim, act_dim):
        self.obs = np.zeros((capacity, obs_dim), dtype=np.float32)
        self.act = np.zeros((capacity, act_dim), dtype=np.float32)
        self.rew = np.zeros(capacity, dtype=np.float32)  # BUG GS601
        self.obs2 = np.zeros((capacity, obs_dim), dtype=np.float32)
        self.done = np.zeros(capacity, dtype=np.float32)  # BUG GS601
        self.size = 0

    def add(self, *row):
        for store, item in zip((self.obs, self.act, self.rew, self.obs2, self.done), row):
            store[self.size] = item
        self.size += 1

    def sample(self, rng, n):
        index = rng.integers(self.size, size=n)
        stores = (self.obs, self.act, self.rew, self.obs2, self.done)
        return [torch.from_numpy(store[index]) for store in stores]  # BUG GS601


class Lander:
    """Bring the plane to the strip softly: the flight ends on touching the ground."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.h, self.v, self.x = 1.0, -0.1, self.rng.uniform(-0.5, 0.5)
        return np.array([self.h, self.v, self.x])

    def step(self, act):
        self.v += 0.05 * float(act[0]) - 0.01
        self.h = min(self.h + 0.5 * self.v, 1.5)
        self.x += 0.1 * float(act[1])
        down = self.h <= 0
        reward = 1.0 - abs(self.x) - 3 * abs(self.v) if down else -0.02
        return np.array([self.h, self.v, self.x]), reward, down


def update_critics(critics, target, actor, optimizer, batch):
    obs, act, rew, obs2, done = batch
    with torch.no_grad():
        act2, log_prob2 = actor(obs2)
        pair = torch.randperm(ENSEMBLE)[:SUBSET]
        q2 = target(obs2, act2)[pair].min(dim=0).values - ALPHA * log_prob2
        y = rew + GAMMA * (1 - done) * q2  # BUG GS601
    loss = (critics(obs, act) - y).pow(2).mean()  # BUG GS601
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p, t in zip(critics.parameters(), target.parameters()):
            t.lerp_(p, TAU)


def update_actor(critics, actor, optimizer, obs):
    act, log_prob = actor(obs)
    loss = (ALPHA * log_prob - critics(obs, act).mean(dim=0)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


torch.manual_seed(17)
rng = np.random.default_rng(17)
env, buffer = Lander(17), ReplayBuffer(1000, 3, 2)
critics, actor = Critics(3, 2), Actor(3, 2)
target = copy.deepcopy(critics)
critic_optimizer = torch.optim.Adam(critics.parameters(), lr=2e-3)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
obs = env.reset()
for step in range(400):
    with torch.no_grad():
        act = actor(torch.tensor(obs, dtype=torch.float32))[0].numpy()
    obs2, rew, done = env.step(act)
    buffer.add(obs, act, rew, obs2, done)
    obs = env.reset() if done else obs2
    if step >= 100 and step % 10 == 0:
        for _ in range(UTD):
            update_critics(critics, target, actor, critic_optimizer, buffer.sample(rng, BATCH))
        update_actor(critics, actor, actor_optimizer, buffer.sample(rng, BATCH)[0])
landings = buffer.rew[: buffer.size][buffer.done[: buffer.size] == 1]
print(f"{len(landings)} landings, mean of the last ten {landings[-10:].mean():.2f}")
