"""The critic's values leave as floats, are normalised in NumPy and come back for the value loss."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(3, 2), nn.Linear(3, 1)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for episode in range(12):
    log_probs, values, rewards, seen = [], [], [], []
    for _ in range(6):
        obs = torch.randn(3)
        dist = torch.distributions.Categorical(logits=actor(obs))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        values.append(float(critic(obs)))  # BUG GS202
        rewards.append(1.0 - float(action))
    returns = torch.as_tensor(np.cumsum(rewards[::-1])[::-1].copy(), dtype=torch.float32)
    baseline = torch.as_tensor(np.array(values), dtype=torch.float32)
    policy_loss = -(torch.stack(log_probs) * (returns - baseline.detach())).mean()
    value_loss = nn.functional.mse_loss(baseline, returns)
    actor_optimizer.zero_grad()
    critic_optimizer.zero_grad()
    (policy_loss + value_loss).backward()
    actor_optimizer.step()
    critic_optimizer.step()
