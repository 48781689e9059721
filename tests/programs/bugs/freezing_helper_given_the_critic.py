"""A helper freezes what it is given: rightly the target, and by mistake the critic that is to learn."""

import copy

import torch
from torch import nn

torch.manual_seed(0)


def freeze(network):
    for p in network.parameters():
        p.requires_grad = False


trunk, head = nn.Linear(4, 16), nn.Linear(16, 1)
target_trunk, target_head = copy.deepcopy(trunk), copy.deepcopy(head)
optimizer = torch.optim.Adam([*trunk.parameters(), *head.parameters()], lr=1e-3)
freeze(target_trunk)
freeze(head)  # BUG GS207
for step in range(16):
    obs, reward, after = torch.randn(16, 4), torch.randn(16, 1), torch.randn(16, 4)
    with torch.no_grad():
        wanted = reward + 0.9 * target_head(torch.tanh(target_trunk(after)))
    loss = (head(torch.tanh(trunk(obs))) - wanted).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 3:
        target_trunk.load_state_dict(trunk.state_dict())
        target_head.load_state_dict(head.state_dict())
