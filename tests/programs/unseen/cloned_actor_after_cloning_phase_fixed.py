"""Behaviour cloning first, then reinforcement: the second phase trains a copy of the cloned policy with the
optimizer of the first.
Repaired here.

Class: late and rare
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(139)
EXPERT = torch.randn(5, 3)


def make_policy():
    return nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 3))


def clone_expert(policy, optimizer, updates):
    for _ in range(updates):
        obs = torch.randn(32, 5)
        loss = F.cross_entropy(policy(obs), (obs @ EXPERT).argmax(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def reinforce(policy, optimizer, updates):
    for _ in range(updates):
        obs = torch.randn(64, 5)
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        reward = (action == 0).float()
        loss = -(dist.log_prob(action) * (reward - reward.mean())).mean()
        policy.zero_grad()
        loss.backward()
        optimizer.step()
    return reward.mean().item()


bc_policy = make_policy()
optimizer = torch.optim.Adam(bc_policy.parameters(), lr=5e-3)
clone_expert(bc_policy, optimizer, 120)
reference = bc_policy
policy = copy.deepcopy(bc_policy)
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
reward = reinforce(policy, optimizer, 80)
with torch.no_grad():
    obs = torch.randn(256, 5)
    drift = F.kl_div(policy(obs).log_softmax(-1), reference(obs).softmax(-1), reduction="batchmean")
print("reward", reward, "drift", drift.item())
