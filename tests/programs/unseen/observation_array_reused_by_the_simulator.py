"""A simulator returns the same array every step; the recurrent policy's graph shares its memory.

Round 4
Class: hidden writes
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(420)
rng = np.random.default_rng(420)


class Simulator:
    def __init__(self):
        self.state = np.zeros(5, dtype=np.float32)

    def reset(self):
        self.state[:] = rng.normal(size=5)
        return self.state

    def step(self, action):
        self.state[:] = 0.8 * self.state + 0.3 * rng.normal(size=5)
        self.state[action] += 0.2
        return self.state, float(self.state[0]), False


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(5, 16)
        self.head = nn.Linear(16, 3)

    def forward(self, obs, memory):
        memory = self.cell(obs, memory)
        return Categorical(logits=self.head(memory)), memory


sim, policy = Simulator(), Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for episode in range(15):
    obs, memory = sim.reset(), torch.zeros(1, 16)
    log_probs, rewards = [], []
    for t in range(12):
        seen = torch.from_numpy(obs).unsqueeze(0)  # BUG GS104
        dist, memory = policy(seen, memory)
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        obs, reward, _ = sim.step(action.item())
        rewards.append(reward)
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    loss = -(torch.cat(log_probs) * (returns - returns.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
