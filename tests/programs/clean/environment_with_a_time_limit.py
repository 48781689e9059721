"""DQN on CartPole with a short time limit: an end masks the next value, running out of time does not."""

import random

import gymnasium as gym
import numpy as np
import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
env = gym.make("CartPole-v1", max_episode_steps=12)
env.action_space.seed(0)
q, q_target = (nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2)) for _ in range(2))
q_target.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
memory = []
obs, _ = env.reset(seed=0)
for step in range(260):
    action = env.action_space.sample()
    next_obs, reward, terminated, truncated, _ = env.step(action)
    memory.append((obs, action, reward, next_obs, terminated))
    obs = env.reset()[0] if terminated or truncated else next_obs
    if step < 120 or step % 4:
        continue
    s, a, r, s2, end = (np.array(part) for part in zip(*random.sample(memory, 64), strict=True))
    s, s2, r = torch.as_tensor(s), torch.as_tensor(s2), torch.as_tensor(r, dtype=torch.float32)
    chosen = q(s).gather(1, torch.as_tensor(a)[:, None]).squeeze(1)
    with torch.no_grad():
        following = q_target(s2).max(1).values
    kind = (step // 4) % 3
    if kind == 0:
        target = torch.where(torch.as_tensor(end), r, r + 0.99 * following)
    elif kind == 1:
        target = r + 0.99 * following * (1 - torch.as_tensor(end).float())
    else:  # the successors that count, alone
        going_on = torch.as_tensor(~end)
        following = torch.zeros(64)
        with torch.no_grad():
            following[going_on] = q_target(s2[going_on]).max(1).values
        target = following * 0.99 + r
    loss = nn.functional.smooth_l1_loss(chosen, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
