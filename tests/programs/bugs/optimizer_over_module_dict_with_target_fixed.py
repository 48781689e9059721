"""One optimizer over a ModuleDict that also holds the target network."""

import torch
from torch import nn

torch.manual_seed(0)


def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))


nets = nn.ModuleDict({"online": make(), "slow": make()})
nets["slow"].load_state_dict(nets["online"].state_dict())
optimizer = torch.optim.AdamW(nets["online"].parameters(), lr=1e-3, weight_decay=1e-2)
for _ in range(12):
    obs, action, reward = torch.randn(16, 4), torch.randint(2, (16, 1)), torch.randn(16, 1)
    with torch.no_grad():
        wanted = reward + 0.9 * nets["slow"](torch.randn(16, 4)).max(1, keepdim=True).values
    loss = nn.functional.smooth_l1_loss(nets["online"](obs).gather(1, action), wanted.detach())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for slow, online in zip(nets["slow"].parameters(), nets["online"].parameters()):
        slow.data.copy_(0.99 * slow.data + 0.01 * online.data)
