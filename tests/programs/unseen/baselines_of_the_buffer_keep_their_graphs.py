"""Values stored with each transition, for their number only, are stored with the graphs that made them.

Round 8
Class: stays alive
"""

from collections import deque

import torch
from torch import nn

torch.manual_seed(809)
net = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
memory = deque(maxlen=2000)


def collect(steps=16):
    for _ in range(steps):
        obs = torch.randn(5)
        value = net(obs)  # BUG GS305
        memory.append((obs, obs[0].item(), value))  # BUG GS305


for update in range(60):
    collect()
    chosen = [memory[i] for i in torch.randint(len(memory), (32,)).tolist()]
    obs = torch.stack([item[0] for item in chosen])
    returns = torch.tensor([item[1] for item in chosen])
    surprise = sum(abs(item[1] - float(item[2])) for item in chosen) / len(chosen)
    loss = (net(obs).squeeze(-1) - returns).pow(2).mean() * (1.0 + 0.1 * surprise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
