"""A helper detaches everything for the log; one of the two callers goes on with what it returns.
Repaired here.

Round 9
Class: the line
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(919)
history = []


def logged(parts):
    parts = {name: part.detach() for name, part in parts.items()}
    history.append({name: part.item() for name, part in parts.items()})
    return parts


pi, v = nn.Linear(5, 3), nn.Linear(5, 1)
optimizer = torch.optim.Adam([*pi.parameters(), *v.parameters()], lr=1e-3)
for update in range(50):
    obs = torch.randn(40, 5)
    dist, value = Categorical(logits=pi(obs)), v(obs).squeeze(-1)
    action = dist.sample()
    returns = (action == (obs[:, 0] > 0).long()).float()
    policy = -(dist.log_prob(action) * (returns - value.detach())).mean()
    logged({"policy": policy, "entropy": dist.entropy().mean()})
    critic = (value - returns).pow(2).mean()
    logged({"critic": critic})
    optimizer.zero_grad()
    (policy + 0.5 * critic).backward()
    optimizer.step()
