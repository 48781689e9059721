"""Soft actor-critic with three thrusters: the log-probability keeps a column per thruster and meets the column of
the value.

Round 22
Class: axes
"""

import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal


class Drone:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.t, self.x = 0, self.rng.normal(size=3).astype(np.float32)
        return self.x.copy()

    def step(self, action):
        self.t += 1
        self.x = (self.x + 0.3 * action).astype(np.float32)
        return self.x.copy(), -float(np.abs(self.x).sum()), bool(np.abs(self.x).sum() < 0.3), self.t >= 30


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, 32), nn.ReLU())
        self.mu, self.log_std = nn.Linear(32, 3), nn.Linear(32, 3)

    def forward(self, obs):
        h = self.trunk(obs)
        dist = Normal(self.mu(h), self.log_std(h).clamp(-5, 2).exp())
        x = dist.rsample()
        act = torch.tanh(x)
        log_prob = dist.log_prob(x) - torch.log(1 - act.pow(2) + 1e-6)  # BUG GS603 GS601
        return act, log_prob


def critic():
    return nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))


random.seed(2205)
torch.manual_seed(2205)
env, memory = Drone(2205), deque(maxlen=2000)
actor, q1, q2 = Actor(), critic(), critic()
q1_old, q2_old = copy.deepcopy(q1), copy.deepcopy(q2)
actor_optim = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optim = torch.optim.Adam([*q1.parameters(), *q2.parameters()], lr=1e-3)
alpha, gamma, tau = 0.1, 0.97, 0.02
obs = env.reset()
for step in range(300):
    with torch.no_grad():
        act = actor(torch.from_numpy(obs)[None])[0][0].numpy()
    obs_next, rew, terminated, truncated = env.step(act)
    memory.append((obs, act, rew, obs_next, terminated))
    obs = env.reset() if terminated or truncated else obs_next
    if step < 128 or step % 4:
        continue
    batch = random.sample(memory, 64)
    s, a, r, s2, d = (torch.as_tensor(np.array(c), dtype=torch.float32) for c in zip(*batch))
    r, d = r.unsqueeze(1), d.unsqueeze(1)
    with torch.no_grad():
        a2, logp2 = actor(s2)
        sa2 = torch.cat([s2, a2], dim=1)
        soft = torch.min(q1_old(sa2), q2_old(sa2)) - alpha * logp2
        target = r + gamma * (1 - d) * soft
    sa = torch.cat([s, a], dim=1)
    critic_loss = (q1(sa) - target).pow(2).mean() + (q2(sa) - target).pow(2).mean()
    critic_optim.zero_grad()
    critic_loss.backward()
    critic_optim.step()
    new, logp = actor(s)
    snew = torch.cat([s, new], dim=1)
    actor_loss = (alpha * logp - torch.min(q1(snew), q2(snew))).mean()
    actor_optim.zero_grad()
    actor_loss.backward()
    actor_optim.step()
    with torch.no_grad():
        for old, now in ((q1_old, q1), (q2_old, q2)):
            for p_old, p in zip(old.parameters(), now.parameters()):
                p_old.mul_(1 - tau).add_(tau * p)
print(round(critic_loss.item(), 3), round(actor_loss.item(), 3))
