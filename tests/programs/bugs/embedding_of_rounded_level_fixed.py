"""A hierarchical policy turns its continuous option into an index for an embedding."""

import torch
from torch import nn

torch.manual_seed(0)
manager = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
options = nn.Linear(1, 5)
worker = nn.Linear(4 + 5, 2)
parameters = [*manager.parameters(), *options.parameters(), *worker.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-3)
for _ in range(10):
    obs, action, advantage = torch.randn(16, 4), torch.randint(2, (16,)), torch.randn(16)
    level = torch.sigmoid(manager(obs)) * 5
    option = options(level)
    logits = worker(torch.cat([obs, option], dim=-1))
    log_prob = torch.distributions.Categorical(logits=logits).log_prob(action)
    loss = -(log_prob * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
