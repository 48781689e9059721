"""PPO epochs reuse the distribution that was computed before the loop."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)


def surrogate(log_prob, old, advantage):
    ratio = (log_prob - old).exp()
    return -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()


for _ in range(4):
    obs, action, advantage = torch.randn(16, 4), torch.randint(2, (16,)), torch.randn(16)
    old = torch.distributions.Categorical(logits=policy(obs)).log_prob(action).detach()
    for _ in range(3):
        log_prob = torch.distributions.Categorical(logits=policy(obs)).log_prob(action)
        loss = surrogate(log_prob, old, advantage)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
