"""The encoder is frozen while the head warms up; the second phase thaws the head, which was never frozen.
Repaired here.

Round 8
Class: late and rare
"""

import torch
from torch import nn

torch.manual_seed(812)
encoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16))
head = nn.Linear(16, 4)
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=1e-3)
encoder.requires_grad_(False)
for update in range(200):
    if update == 60:
        encoder.requires_grad_(True)
    obs = torch.randn(32, 8)
    action = (obs[:, 0] > 0).long() + 2 * (obs[:, 1] > 0).long()
    dist = torch.distributions.Categorical(logits=head(encoder(obs)))
    loss = -dist.log_prob(action).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
