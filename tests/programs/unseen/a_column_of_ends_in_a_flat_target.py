"""Replay gives the ends as a column, everything else is flat: the target becomes a square.

Round 11
Class: axes
"""

import copy
import random
from collections import deque

import torch
from torch import nn

torch.manual_seed(1106)
random.seed(1106)


class Replay:
    def __init__(self):
        self.items = deque(maxlen=500)

    def add(self, *item):
        self.items.append(item)

    def sample(self, size):
        obs, action, reward, after, done = zip(*random.sample(self.items, size))
        done = torch.tensor(done).float().unsqueeze(1)
        return torch.stack(obs), torch.tensor(action), torch.tensor(reward), torch.stack(after), done


replay = Replay()
for _ in range(200):
    obs = torch.randn(4)
    replay.add(obs, random.randrange(2), float(obs[0]), torch.randn(4), random.random() < 0.1)
q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
slow = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
for update in range(60):
    obs, action, reward, after, done = replay.sample(32)
    with torch.no_grad():
        following = slow(after).amax(1)
        target = reward + 0.95 * (1 - done) * following  # BUG GS601
    value = q(obs).gather(1, action[:, None]).squeeze(1)
    loss = (value - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 15 == 14:
        slow.load_state_dict(q.state_dict())
