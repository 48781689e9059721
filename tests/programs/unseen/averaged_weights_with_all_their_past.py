"""The weights that are averaged for evaluation are averaged with gradients on: every average keeps the one before.

Round 9
Class: stays alive
"""

import torch
from torch import nn

torch.manual_seed(909)
q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
averaged = {name: p.detach().clone() for name, p in q.named_parameters()}


def average(rate=0.01):
    for name, p in q.named_parameters():
        averaged[name] = (1 - rate) * averaged[name] + rate * p  # BUG GS305


def evaluate(obs):
    with torch.no_grad():
        return torch.func.functional_call(q, averaged, (obs,)).amax(1).mean().item()


for update in range(120):
    obs = torch.randn(32, 4)
    action = torch.randint(2, (32, 1))
    loss = (q(obs).gather(1, action).squeeze(1) - obs[:, 0] * action.squeeze(1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average()
    if update % 40 == 39:
        evaluate(obs)
