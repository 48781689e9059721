"""Behaviour cloning, unlikelihood, and policy gradients whose advantages are all negative."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=1e-3)

for _ in range(13):  # cloning, beside a value function that learns from the same data
    obs, action, returns = torch.randn(16, 4), torch.randint(3, (16,)), torch.randn(16)
    loss = -Categorical(logits=policy(obs)).log_prob(action).mean()
    loss = loss + (critic(obs).squeeze(-1) - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

for _ in range(13):  # unlikelihood: what must not be said is made less likely
    obs, bad = torch.randn(16, 4), torch.randint(3, (16, 1))
    p_bad = policy(obs).log_softmax(-1).gather(1, bad).exp()
    loss = -(1 - p_bad + 1e-6).log().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

for _ in range(13):  # every reward is a penalty
    obs, penalty = torch.randn(16, 4), -torch.rand(16)
    dist = Categorical(logits=policy(obs))
    loss = -(dist.log_prob(dist.sample()) * penalty).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

for _ in range(13):  # the minus is in the weight
    obs, after, reward = torch.randn(16, 4), torch.randn(16, 4), torch.randn(16)
    dist, value = Categorical(logits=policy(obs)), critic(obs).squeeze(-1)
    with torch.no_grad():
        target = reward + 0.9 * critic(after).squeeze(-1)
    regret = value.detach() - target
    loss = (dist.log_prob(dist.sample()) * regret).mean() + (value - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
