"""A critic in float16 with plain descent, with steps that its weights can take."""

import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1)).half()
with torch.no_grad():
    for p in critic.parameters():
        p.add_(0.5)
optimizer = torch.optim.SGD([{"params": critic.parameters(), "lr": 1e-2}])
for update in range(40):
    obs, returns = torch.randn(32, 8).half(), torch.randn(32)
    loss = (critic(obs).squeeze(-1).float() - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
