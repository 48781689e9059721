"""A DQN keeps the reward that it got last beside the transition that it has just taken."""

import random
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn

Transition = namedtuple("Transition", "state action reward next_state done")


class Pole:
    """A ball on a line, with a slope; it is over where the ball falls off."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.s = self.rng.uniform(-0.5, 0.5, 3)
        return self.s.copy()

    def step(self, action):
        self.s = self.s + 0.2 * (action - 1) * np.array([1.0, 0.3, -0.2]) + self.rng.normal(0, 0.1, 3)
        reward = 1.0 - abs(self.s[0])
        return self.s.copy(), reward, bool(np.abs(self.s).max() > 1.5), {}


random.seed(1)
env, memory = Pole(3), deque(maxlen=2000)
q, target = (
    nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 3)),
    nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 3)),
)
target.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters(), 1e-3)
state, reward = env.reset(), 0.0
for t in range(600):
    with torch.no_grad():
        action = (
            q(torch.tensor(state).float()).argmax().item() if random.random() > 0.2 else random.randrange(3)
        )
    next_state, new_reward, done, _ = env.step(action)
    memory.append(Transition(state, action, reward, next_state, done))  # BUG GS806
    state, reward = (env.reset(), 0.0) if done else (next_state, new_reward)
    if len(memory) < 64:
        continue
    batch = Transition(*zip(*random.sample(memory, 32)))
    s = torch.tensor(np.array(batch.state)).float()
    s2 = torch.tensor(np.array(batch.next_state)).float()
    a = torch.tensor(batch.action).unsqueeze(1)
    r = torch.tensor(batch.reward).float()
    mask = 1 - torch.tensor(batch.done).float()
    with torch.no_grad():
        y = r + 0.95 * mask * target(s2).max(1).values  # BUG GS806
    loss = nn.functional.smooth_l1_loss(q(s).gather(1, a).squeeze(1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if t % 50 == 0:
        target.load_state_dict(q.state_dict())
