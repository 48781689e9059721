"""A recurrent replay stores the hidden state of every step as it came, and starts sequences from it.

Round 5
Class: stays alive
"""

import random

import torch
from torch import nn

torch.manual_seed(510)
random.seed(510)


class RecurrentQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 16)
        self.head = nn.Linear(16, 2)


net = RecurrentQ()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
memory = []
hidden = torch.zeros(1, 16)
for step in range(60):
    obs = torch.randn(1, 4)
    memory.append((obs, hidden, obs[0, 0].item()))  # BUG GS305 GS402 GS102
    hidden = net.cell(obs, hidden)  # BUG GS305 GS402 GS102
    if step >= 8:
        loss = 0.0
        for start in random.sample(range(len(memory) - 4), 3):
            state = memory[start][1]
            for seen, _, reward in memory[start : start + 4]:
                state = net.cell(seen, state)
                loss = loss + (net.head(state).max() - reward).pow(2)
        optimizer.zero_grad()
        loss.backward()  # BUG GS305 GS402 GS102
        optimizer.step()
