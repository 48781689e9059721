"""Episodes end by a time limit as well; the target takes no next value after either kind of end.

Round 11
Class: meaning
"""

import copy
import random
from collections import deque

import numpy as np
import torch
from torch import nn

torch.manual_seed(1124)
random.seed(1124)
rng = np.random.default_rng(1124)


class Drift:
    def reset(self, seed=None):
        self.x, self.time = rng.normal(size=3).astype(np.float32), 0
        return self.x.copy(), {}

    def step(self, action):
        self.time += 1
        self.x = (0.9 * self.x + 0.4 * rng.normal(size=3) + 0.2 * action).astype(np.float32)
        reward = 1.0 - float(np.abs(self.x).sum()) / 3
        return self.x.copy(), reward, bool(np.abs(self.x).max() > 2.0), self.time >= 9, {}


env, memory = Drift(), deque(maxlen=2000)
q = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
slow = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
obs, _ = env.reset()
for step in range(500):
    action = random.randrange(2)
    after, reward, terminated, truncated, _ = env.step(action)
    memory.append((obs, action, reward, after, float(terminated or truncated)))  # BUG GS805
    obs = env.reset()[0] if terminated or truncated else after
    if step < 64 or step % 2:
        continue
    s, a, r, s2, end = zip(*random.sample(memory, 32))
    s, s2 = torch.tensor(np.stack(s)), torch.tensor(np.stack(s2))
    a, r, end = torch.tensor(a)[:, None], torch.tensor(r), torch.tensor(end)
    with torch.no_grad():
        y = r + 0.97 * (1 - end) * slow(s2).amax(1)  # BUG GS805
    loss = nn.functional.mse_loss(q(s).gather(1, a).squeeze(1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        slow.load_state_dict(q.state_dict())
