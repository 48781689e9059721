"""A helper freezes what it is given; the agent hands it the online network, after the optimizer was made.
Repaired here.

Round 4
Class: the line
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(427)


def freeze(module):
    for p in module.parameters():
        p.requires_grad_(False)
    return module


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 24), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


encoder, head = Encoder(), nn.Linear(24, 3)
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=1e-3)
target_encoder, target_head = copy.deepcopy(encoder), copy.deepcopy(head)
freeze(target_encoder)
freeze(target_head)
for update in range(60):
    obs, after = torch.randn(32, 6), torch.randn(32, 6)
    action = torch.randint(3, (32, 1))
    with torch.no_grad():
        goal = obs[:, :1] + 0.9 * target_head(target_encoder(after)).max(1, keepdim=True).values
    loss = F.mse_loss(head(encoder(obs)).gather(1, action), goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for mine, theirs in ((encoder, target_encoder), (head, target_head)):
            for p, t in zip(mine.parameters(), theirs.parameters()):
                t.lerp_(p, 0.05)
