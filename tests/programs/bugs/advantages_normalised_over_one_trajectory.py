"""PPO on one trajectory at a time: advantages of the form [trajectories, time] are normalised over the trajectories."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
env = gym.make("CartPole-v1")
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=1e-3)


def normalise(advantages):
    centred = advantages - advantages.mean(dim=0)  # BUG GS807
    return centred / (advantages.std(dim=0, correction=0) + 1e-8)


for episode in range(6):
    states, actions, rewards = [], [], []
    obs, _ = env.reset(seed=episode)
    for _ in range(25):
        with torch.no_grad():
            action = torch.distributions.Categorical(logits=policy(torch.as_tensor(obs))).sample()
        states.append(obs)
        actions.append(action)
        obs, reward, terminated, truncated, _ = env.step(int(action))
        rewards.append(reward)
        if terminated or truncated:
            break
    returns = torch.tensor([sum(0.99**k * r for k, r in enumerate(rewards[t:])) for t in range(len(rewards))])
    states, actions = torch.as_tensor(np.array(states))[None], torch.stack(actions)[None]
    with torch.no_grad():
        advantages = normalise(returns[None] - critic(states).squeeze(-1))
        old = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
    for _ in range(2):
        ratio = (torch.distributions.Categorical(logits=policy(states)).log_prob(actions) - old).exp()
        surrogate = torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
        value_loss = (critic(states).squeeze(-1) - returns[None]).pow(2).mean()
        loss = -surrogate.mean() + 0.5 * value_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
