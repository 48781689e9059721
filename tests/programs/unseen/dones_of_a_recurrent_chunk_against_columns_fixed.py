"""A recurrent critic returns a column per step and environment; rewards and dones do not have it.
Repaired here.

Round 4
Class: axes
"""

import torch
from torch import nn

torch.manual_seed(410)


class RecurrentCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(4, 24)
        self.head = nn.Linear(24, 1)

    def forward(self, chunk):
        return self.head(self.rnn(chunk)[0])


critic = RecurrentCritic()
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(30):
    chunk = torch.randn(17, 16, 4)
    reward = chunk[:-1, :, 0]
    done = (torch.rand(16, 16) < 0.1).float()
    values = critic(chunk)
    with torch.no_grad():
        target = reward.unsqueeze(-1) + 0.97 * (1 - done).unsqueeze(-1) * values[1:]
    loss = (values[:-1] - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
