"""A GFlowNet: forward and backward log-probabilities meet in a square, and no objective has a sign."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
forward = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
backward = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
log_z = nn.Parameter(torch.zeros(()))
optimizer = torch.optim.Adam([*forward.parameters(), *backward.parameters(), log_z], lr=1e-3)
for _ in range(14):
    state = torch.randn(16, 5, 4)
    going = Categorical(logits=forward(state))
    step = going.sample()
    log_forward = going.log_prob(step).sum(-1)
    log_backward = Categorical(logits=backward(state)).log_prob(step).sum(-1)
    log_reward = -step.float().var(-1)
    loss = (log_z + log_forward - log_reward - log_backward).pow(2).mean()
    loss = loss - 0.0 * going.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
