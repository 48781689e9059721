"""PPO breaks off an epoch when the policy moved too far, between backward and step; the next iteration's
first step takes the gradient that was left behind.

Class: late and rare
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(163)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=2e-2)


def collect():
    obs = torch.randn(128, 4)
    with torch.no_grad():
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        old = dist.log_prob(action)
    reward = (action == obs[:, :3].argmax(-1)).float()
    return obs, action, old, (reward - reward.mean()) / reward.std(), reward.mean().item()


def improve(obs, action, old, advantage, epochs=6, limit=0.01):
    for _ in range(epochs):
        new = Categorical(logits=policy(obs)).log_prob(action)
        ratio = (new - old).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        loss.backward()
        if (old - new).mean().item() > limit:
            break  # BUG GS401
        optimizer.step()  # BUG GS401
        optimizer.zero_grad()


for iteration in range(40):
    *batch, reward = collect()
    improve(*batch)
print("reward", reward)
