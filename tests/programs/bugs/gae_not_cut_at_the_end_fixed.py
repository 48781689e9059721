"""A2C on copies of CartPole: the sum of temporal differences stops at the end of an episode."""

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import nn

STEPS, COPIES, GAMMA, LAMBDA = 26, 4, 0.99, 0.9
torch.manual_seed(0)
envs = SyncVectorEnv([lambda: gym.make("CartPole-v1")] * COPIES, autoreset_mode=AutoresetMode.SAME_STEP)
trunk = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
pi, v = nn.Linear(32, 2), nn.Linear(32, 1)
optimizer = torch.optim.Adam([*trunk.parameters(), *pi.parameters(), *v.parameters()], lr=2e-3)
obs, _ = envs.reset(seed=0)
for _ in range(5):
    seen = torch.zeros(STEPS, COPIES, 4)
    actions = torch.zeros(STEPS, COPIES, dtype=torch.long)
    rewards, dones, values = (torch.zeros(STEPS, COPIES) for _ in range(3))
    for t in range(STEPS):
        seen[t] = torch.as_tensor(obs)
        with torch.no_grad():
            hidden = trunk(seen[t])
            values[t] = v(hidden).squeeze(-1)
            actions[t] = torch.distributions.Categorical(logits=pi(hidden)).sample()
        obs, reward, terminated, truncated, _ = envs.step(actions[t].numpy())
        rewards[t] = torch.as_tensor(reward)
        dones[t] = torch.as_tensor(np.logical_or(terminated, truncated)).float()
    with torch.no_grad():
        following = v(trunk(torch.as_tensor(obs))).squeeze(-1)
        advantages, running = torch.zeros_like(rewards), torch.zeros(COPIES)
        for t in reversed(range(STEPS)):
            delta = rewards[t] + GAMMA * following * (1 - dones[t]) - values[t]
            running = delta + GAMMA * LAMBDA * running * (1 - dones[t])
            advantages[t] = running
            following = values[t]
        returns = advantages + values
    hidden = trunk(seen)
    log_prob = torch.distributions.Categorical(logits=pi(hidden)).log_prob(actions)
    value_loss = (v(hidden).squeeze(-1) - returns).pow(2).mean()
    loss = -(log_prob * advantages).mean() + 0.5 * value_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
