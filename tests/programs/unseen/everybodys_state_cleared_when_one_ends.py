"""A vectorised recurrent policy clears all hidden states as soon as any environment ends, which is nearly
every step: the recurrent weights learn nothing.

Class: zero in part
"""

import torch
from torch import nn

torch.manual_seed(67)
ENVS, HIDDEN = 32, 16


class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(2, HIDDEN)
        self.rec = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.out = nn.Linear(HIDDEN, 1)

    def forward(self, obs, hidden):
        hidden = torch.tanh(self.inp(obs) + self.rec(hidden))
        return self.out(hidden).squeeze(-1), hidden


def after_step(hidden, done):
    if done.any():
        return hidden * 0.0  # BUG GS208 GS202
    return hidden


model = Memory()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for update in range(60):
    hidden, previous = torch.zeros(ENVS, HIDDEN), torch.zeros(ENVS)
    loss = torch.zeros(())
    for t in range(8):
        obs = torch.randn(ENVS, 2)
        prediction, hidden = model(obs, hidden)
        # the return depends on what was seen one step before
        loss = loss + (prediction - previous).pow(2).mean() / 8
        done = torch.rand(ENVS) < 0.2
        done[t % ENVS] = True
        previous = torch.where(done, torch.zeros(ENVS), obs[:, 0])
        hidden = after_step(hidden, done)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
