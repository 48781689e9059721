"""A critic over episodes of different lengths, masked through padding."""

import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(critic.parameters(), lr=1e-2)
for step in range(25):
    episodes = [torch.randn(3 + (2 * step + i) % 4, 3) for i in range(4)]
    returns = [e[:, 0].flip(0).cumsum(0).flip(0) for e in episodes]
    values = critic(torch.nested.nested_tensor(episodes, layout=torch.jagged))
    errors = values.values().squeeze(-1) - torch.cat(returns)
    loss = errors.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
    opt.step()
print(float(loss))
