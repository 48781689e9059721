"""A2C over an episode, GAE in NumPy, actor and critic with an optimizer each."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)
actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(12):
    obs = rng.normal(size=3).astype(np.float32)
    log_probs, values, rewards, entropies = [], [], [], []
    for _ in range(8):
        x = torch.as_tensor(obs)
        dist = torch.distributions.Categorical(logits=actor(x))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        values.append(critic(x).squeeze(-1))
        rewards.append(float(-abs(obs[0]) + 0.1 * action.item()))
        obs = (0.9 * obs + 0.1 * rng.normal(size=3)).astype(np.float32)
    v = np.array([value.item() for value in values] + [0.0], dtype=np.float32)
    advantage, running = np.zeros(8, dtype=np.float32), 0.0
    for t in reversed(range(8)):
        running = rewards[t] + 0.99 * v[t + 1] - v[t] + 0.99 * 0.95 * running
        advantage[t] = running
    returns = torch.from_numpy(advantage + v[:-1])
    weight = torch.from_numpy((advantage - advantage.mean()) / (advantage.std() + 1e-8))
    actor_loss = -(torch.stack(log_probs) * weight).sum() - 0.01 * torch.stack(entropies).sum()
    critic_loss = nn.functional.smooth_l1_loss(torch.stack(values), returns)
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
