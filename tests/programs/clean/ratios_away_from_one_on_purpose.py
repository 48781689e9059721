"""Importance ratios that differ from one before any step: data of other policies, of other conditions, kept long."""

import copy
import random

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
random.seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
behaviour = copy.deepcopy(policy)
with torch.no_grad():
    for p in behaviour.parameters():
        p.add_(0.3 * torch.randn_like(p))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)

for _ in range(13):  # another policy acted; weights cut at one
    obs, advantage = torch.randn(32, 4), torch.randn(32)
    with torch.no_grad():
        dist = Categorical(logits=behaviour(obs))
        action = dist.sample()
        old = dist.log_prob(action)
    ratio = (Categorical(logits=policy(obs)).log_prob(action) - old).exp()
    loss = -(ratio.clamp(max=1.0) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

memory = []
for _ in range(13):  # a replay of what older weights did
    with torch.no_grad():
        obs = torch.randn(16, 4)
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        memory.append((obs, action, dist.log_prob(action), torch.randn(16)))
    obs, action, old, advantage = random.choice(memory)
    ratio = (Categorical(logits=policy(obs)).log_prob(action) - old).exp()
    loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

for _ in range(13):  # acted with a temperature, and at random now and then: that is what is corrected for
    with torch.no_grad():
        obs, advantage = torch.randn(16, 4), torch.randn(16)
        explored = 0.9 * (policy(obs) / 2.0).softmax(-1) + 0.1 / 3
        action = torch.multinomial(explored, 1)
        old = explored.gather(1, action).log()
    ratio = (policy(obs).log_softmax(-1).gather(1, action) - old).exp().squeeze(-1)
    loss = -(ratio.clamp(max=2.0) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

goal_policy = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(goal_policy.parameters(), lr=1e-2)
for _ in range(13):  # hindsight: the same action, had another goal been meant
    with torch.no_grad():
        obs, goal, reached, gain = torch.randn(16, 4), torch.randn(16, 2), torch.randn(16, 2), torch.randn(16)
        dist = Categorical(logits=goal_policy(torch.cat([obs, goal], -1)))
        action = dist.sample()
        old = dist.log_prob(action)
    new = Categorical(logits=goal_policy(torch.cat([obs, reached], -1))).log_prob(action)
    loss = -((new - old).exp().clamp(max=5.0) * gain).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
