"""A NumPy ring buffer is wrapped once; new observations overwrite rows that a graph still needs."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)
ring = np.zeros((4, 3), dtype=np.float32)
policy = nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for episode in range(6):
    log_probs, rewards = [], []
    for t in range(6):
        ring[t % 4] = rng.normal(size=3)
        window = torch.from_numpy(ring.copy())
        dist = torch.distributions.Categorical(logits=policy(window.flatten()))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        rewards.append(float(rng.normal()))
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    loss = -(torch.stack(log_probs) * returns).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
