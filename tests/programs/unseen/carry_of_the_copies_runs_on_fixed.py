"""Copies side by side, generalised advantages in NumPy: the carry of a copy is not cut where its episode ended.
Repaired here.

Round 9
Class: meaning
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(923)
rng = np.random.default_rng(923)
COPIES, STEPS = 4, 24


class Line:
    def __init__(self):
        self.at = 0.0

    def reset(self, seed=None):
        self.at = float(rng.normal())
        return np.array([self.at, 1.0], np.float32), {}

    def step(self, action):
        self.at += (0.6 if action == 1 else -0.6) + 0.3 * float(rng.normal())
        over = abs(self.at) > 2.5
        return np.array([self.at, 1.0], np.float32), 1.0 - abs(self.at), over, False, {}


body = nn.Sequential(nn.Linear(2, 32), nn.Tanh())
pi, v = nn.Linear(32, 2), nn.Linear(32, 1)
optimizer = torch.optim.Adam([*body.parameters(), *pi.parameters(), *v.parameters()], lr=1e-3)
envs = [Line() for _ in range(COPIES)]
obs = np.stack([env.reset()[0] for env in envs])


def advantages_of(rewards, values, ends, last):
    found = np.zeros_like(rewards)
    carry = np.zeros(COPIES, np.float32)
    for t in reversed(range(STEPS)):
        after = last if t == STEPS - 1 else values[t + 1]
        error = rewards[t] + 0.98 * after * (1 - ends[t]) - values[t]
        carry = error + 0.98 * 0.9 * (1 - ends[t]) * carry
        found[t] = carry
    return found


for update in range(30):
    seen = np.zeros((STEPS, COPIES, 2), np.float32)
    acted = np.zeros((STEPS, COPIES), np.int64)
    rewards, values, ends = (np.zeros((STEPS, COPIES), np.float32) for _ in range(3))
    for t in range(STEPS):
        with torch.no_grad():
            hidden = body(torch.from_numpy(obs))
            action = Categorical(logits=pi(hidden)).sample().numpy()
            values[t] = v(hidden).squeeze(-1).numpy()
        seen[t], acted[t] = obs, action
        for i, env in enumerate(envs):
            after, rewards[t, i], over, _, _ = env.step(action[i])
            ends[t, i] = over
            obs[i] = env.reset()[0] if over else after
    with torch.no_grad():
        last = v(body(torch.from_numpy(obs))).squeeze(-1).numpy()
    advantages = advantages_of(rewards, values, ends, last)
    returns = torch.from_numpy(advantages + values).flatten()
    advantage = torch.from_numpy(advantages).flatten()
    hidden = body(torch.from_numpy(seen.reshape(-1, 2)))
    logp = Categorical(logits=pi(hidden)).log_prob(torch.from_numpy(acted).flatten())
    loss = -(logp * advantage).mean() + 0.5 * (v(hidden).squeeze(-1) - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
