"""Prioritised n-step Q-learning with one network: the value at the end of the n steps is a constant in the target.

Round 28
Class: the line
"""

import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn

SEED = 281
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


class NStepPrioritisedReplay:
    def __init__(self, capacity, n, gamma, alpha=0.6):
        self.data = deque(maxlen=capacity)
        self.priorities = deque(maxlen=capacity)
        self.window = deque()
        self.n, self.gamma, self.alpha = n, gamma, alpha

    def push(self, obs, action, reward, next_obs, terminated, truncated):
        self.window.append((obs, action, reward))
        if terminated or truncated:
            while self.window:
                self._emit(next_obs, terminated)
        elif len(self.window) == self.n:
            self._emit(next_obs, terminated)

    def _emit(self, last_obs, terminated):
        total = sum(self.gamma**k * r for k, (_, _, r) in enumerate(self.window))
        obs, action, _ = self.window[0]
        discount = 0.0 if terminated else self.gamma ** len(self.window)
        self.data.append((obs, action, total, last_obs, discount))
        self.priorities.append(max(self.priorities, default=1.0))
        self.window.popleft()

    def sample(self, size, beta):
        p = np.array(self.priorities) ** self.alpha
        p /= p.sum()
        index = np.random.choice(len(self.data), size, p=p)
        weights = (len(self.data) * p[index]) ** -beta
        rows = zip(*(self.data[i] for i in index))
        obs, action, total, last_obs, discount = (np.array(x) for x in rows)
        batch = {
            "obs": torch.as_tensor(obs, dtype=torch.float32),
            "action": torch.as_tensor(action),
            "return": torch.as_tensor(total, dtype=torch.float32),
            "last_obs": torch.as_tensor(last_obs, dtype=torch.float32),
            "discount": torch.as_tensor(discount, dtype=torch.float32),
            "weight": torch.as_tensor(weights / weights.max(), dtype=torch.float32),
        }
        return index, batch

    def update(self, index, errors):
        for i, e in zip(index, errors):
            self.priorities[i] = abs(float(e)) + 1e-3


env = gym.make("CartPole-v1")
q_net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(q_net.parameters(), lr=5e-4)
replay = NStepPrioritisedReplay(2000, n=3, gamma=0.97)

obs, _ = env.reset(seed=SEED)
length, lengths = 0, []
for step in range(450):
    epsilon = max(0.1, 1 - step / 300)
    if random.random() < epsilon:
        action = random.randrange(2)
    else:
        with torch.no_grad():
            action = int(q_net(torch.as_tensor(obs)).argmax())
    next_obs, reward, terminated, truncated, _ = env.step(action)
    replay.push(obs, action, reward, next_obs, terminated, truncated)
    obs, length = next_obs, length + 1
    if terminated or truncated:
        lengths.append(length)
        obs, _ = env.reset()
        length = 0

    if step >= 100 and step % 3 == 0:
        index, b = replay.sample(32, beta=0.4 + 0.6 * step / 450)
        q = q_net(b["obs"]).gather(1, b["action"][:, None]).squeeze(1)
        with torch.no_grad():
            bootstrap = q_net(b["last_obs"]).max(1).values
        target = b["return"] + b["discount"] * bootstrap
        error = target - q
        loss = (b["weight"] * nn.functional.smooth_l1_loss(q, target, reduction="none")).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(q_net.parameters(), 10.0)
        optimizer.step()
        replay.update(index, error.detach())

print(f"{len(lengths)} episodes, the last ones {lengths[-5:]}")
