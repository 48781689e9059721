"""Behaviour cloning first; then a policy with a penalty towards the cloned one, which stays as it is, and critics
whose targets follow."""

import copy

import torch
from torch import nn
from torch.distributions import Categorical, kl_divergence

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for _ in range(120):
    obs = torch.randn(32, 4)
    loss = nn.functional.cross_entropy(policy(obs), obs[:, :3].argmax(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

reference, critic_target = copy.deepcopy(policy), copy.deepcopy(critic)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
policy_optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for _ in range(200):
    obs, following, reward, action = (
        torch.randn(32, 4),
        torch.randn(32, 4),
        torch.randn(32),
        torch.randint(3, (32,)),
    )
    with torch.no_grad():
        anchor = torch.softmax(reference(following), -1)
        goal = reward + 0.9 * (anchor * critic_target(following)).sum(-1)
    critic_loss = (critic(obs).gather(1, action[:, None]).squeeze(1) - goal).pow(2).mean()
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    with torch.no_grad():
        values, fixed = critic(obs), Categorical(logits=reference(obs))
    dist = Categorical(logits=policy(obs))
    policy_loss = -(dist.probs * values).sum(-1).mean() + 0.1 * kl_divergence(dist, fixed).mean()
    policy_optimizer.zero_grad()
    policy_loss.backward()
    policy_optimizer.step()
    with torch.no_grad():
        for t, p in zip(critic_target.parameters(), critic.parameters(), strict=True):
            t.lerp_(p, 0.05)
