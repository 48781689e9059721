"""The temperature of a soft policy is updated by hand through `.data`, and its gradient is never cleared.
Repaired here.

Round 10
Class: gradients by hand
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1004)
policy = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 4))
log_alpha = torch.zeros((), requires_grad=True)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for update in range(60):
    obs = torch.randn(48, 5)
    dist = Categorical(logits=policy(obs))
    with torch.no_grad():
        q = obs[:, :4]
    alpha = log_alpha.exp().detach()
    loss = (dist.probs * (alpha * dist.logits - q)).sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    excess = (dist.entropy().detach() - 0.8).mean()
    (log_alpha * excess).backward()
    log_alpha.data -= 0.01 * log_alpha.grad
    log_alpha.grad = None
