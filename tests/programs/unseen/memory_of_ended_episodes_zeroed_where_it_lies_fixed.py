"""A recurrent actor resets the memory of ended episodes by writing zeros into the state that the cell keeps.
Repaired here.

Round 6
Class: forward errors
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(602)

cell, head = nn.GRUCell(4, 16), nn.Linear(16, 3)
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-3)
for update in range(15):
    memory = torch.zeros(8, 16)
    scores = []
    for t in range(6):
        obs = torch.randn(8, 4)
        memory = cell(obs, memory)
        dist = Categorical(logits=head(memory))
        action = dist.sample()
        scores.append(dist.log_prob(action) * (action == obs[:, :3].argmax(-1)).float())
        ended = torch.rand(8) < 0.2
        memory = memory * (~ended).float().unsqueeze(1)
    loss = -torch.stack(scores).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
