"""MuZero-like: recurrent dynamics, gradient halved by a hook, policy and value targets from data."""

import torch
from torch import nn

torch.manual_seed(0)
represent, dynamics = nn.Linear(4, 12), nn.Linear(14, 12)
reward_head, value_head, policy_head = nn.Linear(12, 1), nn.Linear(12, 1), nn.Linear(12, 2)
modules = nn.ModuleList([represent, dynamics, reward_head, value_head, policy_head])
optimizer = torch.optim.SGD(modules.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
for _ in range(10):
    obs, actions = torch.randn(8, 4), torch.randint(2, (3, 8))
    rewards, values, visits = torch.randn(3, 8), torch.randn(3, 8), torch.rand(3, 8, 2).softmax(-1)
    hidden, loss = torch.tanh(represent(obs)), torch.zeros(())
    for t in range(3):
        x = torch.cat([hidden, nn.functional.one_hot(actions[t], 2).float()], -1)
        hidden = torch.tanh(dynamics(x))
        hidden.register_hook(lambda g: 0.5 * g)
        loss = loss + (reward_head(hidden).squeeze(-1) - rewards[t]).pow(2).mean()
        loss = loss + 0.25 * (value_head(hidden).squeeze(-1) - values[t]).pow(2).mean()
        loss = loss - (visits[t] * policy_head(hidden).log_softmax(-1)).sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
