"""The return of a step is the discounted sum of the rewards before it, not of those that follow.
Repaired here.

Round 7
Class: meaning
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(717)
rng = np.random.default_rng(717)


class Drift:
    def reset(self, seed=None, options=None):
        self.state, self.time = rng.normal(size=3).astype(np.float32), 0
        return self.state.copy(), {}

    def step(self, action):
        self.time += 1
        self.state = (0.9 * self.state + 0.3 * rng.normal(size=3)).astype(np.float32)
        self.state[0] += 0.1 * (1 if action else -1)
        return self.state.copy(), float(self.state[0]), False, self.time >= 20, {}


policy = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
env = Drift()
for episode in range(25):
    obs, _ = env.reset()
    log_probs, rewards, over = [], [], False
    while not over:
        dist = Categorical(logits=policy(torch.as_tensor(obs)))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        obs, reward, terminated, truncated, _ = env.step(action.item())
        rewards.append(reward)
        over = terminated or truncated
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + 0.95 * total
        returns.insert(0, total)
    weight = torch.tensor(returns)
    loss = -(torch.stack(log_probs) * (weight - weight.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
