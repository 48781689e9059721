"""Advantages within groups are divided by the group's deviation, which is zero where all answers are worth the same.
Repaired here.

Round 11
Class: magnitude
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1119)
policy = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for update in range(20):
    prompts = torch.randn(12, 1, 5).expand(12, 4, 5)
    dist = Categorical(logits=policy(prompts))
    action = dist.sample()
    reward = (action == prompts[..., :3].argmax(-1)).float()
    centred = reward - reward.mean(1, keepdim=True)
    advantage = centred / (reward.std(1, keepdim=True) + 1e-4)
    loss = -(dist.log_prob(action) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
