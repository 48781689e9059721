"""Behaviour cloning first; the policy-gradient phase trains a copy, its optimizer was given the original."""

import copy

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))


def clone_expert(updates):
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    for _ in range(updates):
        obs = torch.randn(32, 4)
        loss = nn.functional.cross_entropy(policy(obs), obs[:, :3].argmax(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def reinforce(updates):
    student = copy.deepcopy(policy)  # BUG GS205 GS206
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)  # BUG GS205 GS206
    for _ in range(updates):
        obs = torch.randn(32, 4)
        dist = Categorical(logits=student(obs))
        action = dist.sample()
        reward = (action == obs[:, :3].argmax(-1)).float()
        loss = -(dist.log_prob(action) * (reward - reward.mean())).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # BUG GS404


clone_expert(300)
reinforce(100)
