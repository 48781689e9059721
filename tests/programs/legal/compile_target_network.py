"""DQN with a compiled online and a compiled target network."""

# fresh
import copy

import torch
from torch import nn

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target = copy.deepcopy(online).requires_grad_(False)
q, q_target = torch.compile(online), torch.compile(target)
opt = torch.optim.Adam(online.parameters(), lr=1e-2)
for step in range(40):
    s, s2, r = torch.randn(16, 4), torch.randn(16, 4), torch.randn(16)
    a = torch.randint(0, 2, (16, 1))
    with torch.no_grad():
        y = r + 0.9 * q_target(s2).max(1).values
    loss = nn.functional.smooth_l1_loss(q(s).gather(1, a).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        target.load_state_dict(online.state_dict())
print(float(loss))
