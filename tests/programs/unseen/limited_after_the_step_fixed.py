"""The gradient norm is limited when the optimizer has already stepped.
Repaired here.

Round 7
Class: magnitude
"""

import torch
from torch import nn
from torch.distributions import Categorical


def train_step(policy, optimizer, obs, action, advantage):
    loss = -(Categorical(logits=policy(obs)).log_prob(action) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 0.05)
    optimizer.step()
    return loss.item()


torch.manual_seed(712)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
for _ in range(40):
    obs, action = torch.randn(32, 4), torch.randint(3, (32,))
    train_step(policy, optimizer, obs, action, (action == 1).float() - 0.3)
