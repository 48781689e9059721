"""A recurrent critic's state is multiplied with the wrong flag: it is kept where an episode ended and cleared
everywhere else.

Round 2
Class: zero in part
"""

import torch
from torch import nn

torch.manual_seed(212)


class RecurrentCritic(nn.Module):
    def __init__(self, obs_dim=3, hidden=16):
        super().__init__()
        self.inp = nn.Linear(obs_dim, hidden)
        self.rec = nn.Linear(hidden, hidden, bias=False)
        self.out = nn.Linear(hidden, 1)

    def forward(self, obs, done):
        hidden = torch.zeros(obs.shape[1], self.rec.in_features)
        values = []
        for t in range(obs.shape[0]):
            hidden = torch.tanh(self.inp(obs[t]) + self.rec(hidden))
            values.append(self.out(hidden).squeeze(-1))
            hidden = hidden * done[t].unsqueeze(-1)  # BUG GS208
        return torch.stack(values)


critic = RecurrentCritic()
optimizer = torch.optim.Adam(critic.parameters(), lr=3e-3)
for update in range(60):
    obs = torch.randn(8, 12, 3)
    done = torch.zeros(8, 12)
    done[-1] = 1.0
    returns = obs[..., 0].cumsum(0)
    loss = (critic(obs, done) - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
