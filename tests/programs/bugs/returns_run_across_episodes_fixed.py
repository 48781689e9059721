"""REINFORCE on batches of several episodes: the running return starts anew with each."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
env = gym.make("CartPole-v1")
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)


def discounted(rewards, dones, gamma=0.97):
    running, returns = 0.0, np.zeros(len(rewards))
    for t in reversed(range(len(rewards))):
        running = rewards[t] + gamma * running * (1 - dones[t])
        returns[t] = running
    return torch.as_tensor(returns, dtype=torch.float32)


obs, _ = env.reset(seed=0)
for _ in range(5):
    observations, actions, rewards, dones = [], [], [], []
    while len(rewards) < 70:
        with torch.no_grad():
            action = torch.distributions.Categorical(logits=policy(torch.as_tensor(obs))).sample()
        observations.append(obs)
        obs, reward, terminated, truncated, _ = env.step(action.item())
        actions.append(action)
        rewards.append(reward)
        dones.append(terminated or truncated)
        if dones[-1]:
            obs, _ = env.reset()
    returns = discounted(rewards, dones)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    distribution = torch.distributions.Categorical(logits=policy(torch.as_tensor(np.array(observations))))
    loss = -(distribution.log_prob(torch.stack(actions)) * returns).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
