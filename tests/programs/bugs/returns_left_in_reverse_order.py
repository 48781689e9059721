"""REINFORCE on CartPole: returns are summed up from the end and stay in that order, the log-probabilities do not."""

import gymnasium as gym
import torch
from torch import nn

torch.manual_seed(0)
env = gym.make("CartPole-v1")
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for episode in range(8):
    log_probs, rewards = [], []
    obs, _ = env.reset(seed=episode)
    over = False
    while not over:
        distribution = torch.distributions.Categorical(logits=policy(torch.as_tensor(obs)))
        action = distribution.sample()
        log_probs.append(distribution.log_prob(action))
        obs, reward, terminated, truncated, _ = env.step(action.item())
        rewards.append(reward)
        over = terminated or truncated
    returns, running = [], 0.0
    for reward in reversed(rewards):
        running = reward + 0.95 * running
        returns.append(running)  # BUG GS806
    weights = torch.tensor(returns)  # BUG GS806
    loss = -(torch.stack(log_probs) * weights).sum()  # BUG GS806
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
