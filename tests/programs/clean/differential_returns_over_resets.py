"""The average-reward policy gradient: differences to the mean reward are summed up over resets, undiscounted."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
env = gym.make("CartPole-v1")
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
obs, _ = env.reset(seed=0)
for _ in range(8):
    seen, actions, rewards = [], [], []
    for _ in range(80):
        with torch.no_grad():
            action = torch.distributions.Categorical(logits=policy(torch.as_tensor(obs))).sample()
        seen.append(obs)
        actions.append(action)
        obs, reward, terminated, truncated, _ = env.step(int(action))
        if terminated or truncated:  # the price of starting anew
            obs, _ = env.reset()
            reward = -20.0
        rewards.append(reward)
    differences = np.array(rewards) - np.mean(rewards)
    returns = torch.as_tensor(differences[::-1].cumsum()[::-1].copy(), dtype=torch.float32)
    log_probs = torch.distributions.Categorical(logits=policy(torch.as_tensor(np.array(seen)))).log_prob(
        torch.stack(actions)
    )
    loss = -(log_probs * returns).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
