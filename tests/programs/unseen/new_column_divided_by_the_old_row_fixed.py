"""The learner's log-probabilities come as a column, those of the buffer were flattened: their difference is a square
of every sample against every other.
Repaired here.

Round 22
Class: axes
"""

import numpy as np
import torch
from torch import nn


class Corridor:
    """Walk right to the goal, seven places; the episode ends there or after 25 steps."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.at, self.t = int(self.rng.integers(0, 6)), 0
        return np.eye(7, dtype=np.float32)[self.at]

    def step(self, move):
        self.at = max(0, self.at + (1 if move else -1))
        self.t += 1
        goal = self.at == 6
        return np.eye(7, dtype=np.float32)[self.at], 1.0 if goal else -0.05, goal, self.t == 25


class Buffer:
    def __init__(self, size):
        self.s = np.zeros((size, 7), np.float32)
        self.a = np.zeros((size, 1), np.int64)
        self.logp = np.zeros(size, np.float32)
        self.r = np.zeros(size, np.float32)
        self.end = np.zeros(size, np.float32)
        self.s2 = np.zeros((size, 7), np.float32)

    def tensors(self):
        return [torch.from_numpy(x) for x in (self.s, self.a, self.logp, self.r, self.end, self.s2)]


class PPO:
    def __init__(self):
        self.pi = nn.Sequential(nn.Linear(7, 32), nn.Tanh(), nn.Linear(32, 2))
        self.v = nn.Sequential(nn.Linear(7, 32), nn.Tanh(), nn.Linear(32, 1))
        self.opt = torch.optim.Adam([*self.pi.parameters(), *self.v.parameters()], lr=3e-3)

    def act(self, s):
        with torch.no_grad():
            logp = torch.log_softmax(self.pi(torch.from_numpy(s)), dim=0)
        a = int(torch.multinomial(logp.exp(), 1))
        return a, float(logp[a])

    def learn(self, buffer, epochs=4):
        s, a, old, r, end, s2 = buffer.tensors()
        with torch.no_grad():
            target = r + 0.95 * (1 - end) * self.v(s2).squeeze(1)
            adv = target - self.v(s).squeeze(1)
            adv = (adv - adv.mean()) / (adv.std() + 1e-6)
        for _ in range(epochs):
            log_p = torch.log_softmax(self.pi(s), dim=1).gather(1, a)
            ratio = torch.exp(log_p.squeeze(1) - old)
            actor = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
            loss = actor + 0.5 * (self.v(s).squeeze(1) - target).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()


torch.manual_seed(2209)
env, agent = Corridor(np.random.default_rng(2209)), PPO()
s = env.reset()
for round_ in range(10):
    buffer = Buffer(40)
    for i in range(40):
        a, logp = agent.act(s)
        s2, r, goal, late = env.step(a)
        buffer.s[i], buffer.a[i], buffer.logp[i], buffer.r[i] = s, a, logp, r
        buffer.end[i], buffer.s2[i] = goal, s2
        s = env.reset() if goal or late else s2
    agent.learn(buffer)
    print(round_, round(float(buffer.r.mean()), 3))
