"""A vectorised environment returns one array that it overwrites; from_numpy shares its memory."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)


class VectorEnv:
    def __init__(self, n=4, size=3):
        self.observations = np.zeros((n, size), dtype=np.float32)

    def reset(self):
        self.observations[:] = rng.normal(size=self.observations.shape)
        return self.observations

    def step(self, actions):
        self.observations += rng.normal(size=self.observations.shape).astype(np.float32)  # BUG GS104
        return self.observations, -np.abs(self.observations[:, 0]).astype(np.float32)


env = VectorEnv()
policy = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for episode in range(8):
    obs, log_probs, rewards = env.reset(), [], []
    for _ in range(5):
        dist = torch.distributions.Categorical(logits=policy(torch.from_numpy(obs)))  # BUG GS104
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        obs, reward = env.step(action.numpy())
        rewards.append(torch.tensor(reward))
    returns = torch.stack(rewards).flip(0).cumsum(0).flip(0)
    loss = -(torch.stack(log_probs) * (returns - returns.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
