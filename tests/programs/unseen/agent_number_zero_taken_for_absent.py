"""Several agents with embeddings of their own: who is present is read off their numbers, and the first has number zero.

Round 9
Class: zero in part
"""

import torch
from torch import nn

torch.manual_seed(904)
AGENTS = 4


class Team(nn.Module):
    def __init__(self):
        super().__init__()
        self.who = nn.Embedding(AGENTS, 8)
        self.body = nn.Sequential(nn.Linear(6 + 8, 32), nn.ReLU())
        self.value = nn.Linear(32, 1)

    def forward(self, obs, ids):
        return self.value(self.body(torch.cat([obs, self.who(ids)], -1))).squeeze(-1)


team = Team()
optimizer = torch.optim.Adam(team.parameters(), lr=1e-3)
for update in range(120):
    ids = torch.arange(AGENTS).repeat(16)
    obs = torch.randn(16 * AGENTS, 6)
    present = ids.bool().float()  # BUG GS208
    error = team(obs, ids) - (obs[:, 0] + ids)
    loss = (error.pow(2) * present).sum() / present.sum()  # BUG GS208
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
