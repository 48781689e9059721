"""A DQN stores whether the episode ended and forgets to use it in the target.
Repaired here.

Round 5
Class: meaning
"""

import copy
import random

import numpy as np
import torch
from torch import nn

torch.manual_seed(522)
random.seed(522)
rng = np.random.default_rng(522)


class Pole:
    def reset(self, seed=None, options=None):
        self.angle, self.speed = rng.normal(scale=0.05), rng.normal(scale=0.05)
        return np.array([self.angle, self.speed], dtype=np.float32), {}

    def step(self, action):
        self.speed += 0.3 * self.angle + (0.08 if action else -0.08) + rng.normal(scale=0.02)
        self.angle += self.speed
        fallen = abs(self.angle) > 0.5
        return np.array([self.angle, self.speed], dtype=np.float32), 1.0, fallen, False, {}


q = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))
target = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
env, memory = Pole(), []
obs, _ = env.reset()
for step in range(600):
    with torch.no_grad():
        action = random.randrange(2) if random.random() < 0.3 else int(q(torch.as_tensor(obs)).argmax())
    after, reward, terminated, truncated, _ = env.step(action)
    memory.append((obs, action, reward, after, float(terminated)))
    obs = env.reset()[0] if terminated or truncated else after
    if step < 64:
        continue
    batch = random.sample(memory, 32)
    states, actions, rewards, following, ended = (torch.as_tensor(np.array(x)) for x in zip(*batch))
    with torch.no_grad():
        goal = rewards.float() + 0.95 * (1 - ended.float()) * target(following).amax(1)
    loss = (q(states).gather(1, actions[:, None]).squeeze(1) - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        target.load_state_dict(q.state_dict())
