"""A window of three steps sums up the rewards that follow its first one, and one beyond its last."""

import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
GAMMA, N = 0.97, 3


class NStep:
    def __init__(self):
        self.window, self.memory = deque(maxlen=N + 1), deque(maxlen=5000)

    def push(self, s, a, r, s2, done):
        self.window.append((s, a, r, s2, done))
        if len(self.window) == N + 1 and not any(w[4] for w in list(self.window)[:-1]):
            rewards = [w[2] for w in list(self.window)[:N]]
            total = sum(GAMMA**k * x for k, x in enumerate(rewards))
            first, last = self.window[0], self.window[N - 1]
            self.memory.append((first[0], first[1], total, last[3], float(last[4])))


env = gym.make("Pendulum-v1")
q, slow = (
    nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 5)),
    nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 5)),
)
slow.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), 1e-3)
buf = NStep()
s, _ = env.reset(seed=0)
for t in range(500):
    a = random.randrange(5)
    s2, r, term, trunc, _ = env.step(np.array([a - 2.0], np.float32))
    buf.push(s, a, r, s2, term)
    s = s2
    if trunc:
        s, _ = env.reset()
        buf.window.clear()
    if len(buf.memory) < 64:
        continue
    S, A, R, S2, D = map(np.array, zip(*random.sample(buf.memory, 32)))
    S, S2, A = torch.from_numpy(S), torch.from_numpy(S2), torch.from_numpy(A)
    R, D = torch.from_numpy(R).float(), torch.from_numpy(D).float()
    with torch.no_grad():
        y = R + GAMMA**N * (1 - D) * slow(S2).max(1).values
    loss = nn.functional.smooth_l1_loss(q(S).gather(1, A.view(-1, 1)).view(-1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if t % 60 == 0:
        slow.load_state_dict(q.state_dict())
