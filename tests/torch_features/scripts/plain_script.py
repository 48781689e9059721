# finds: GS301
import copy

import torch
from torch import nn

q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-2)
for step in range(30):
    s, s2, r = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8)
    a = torch.randint(0, 2, (8, 1))
    y = r + 0.9 * target(s2).max(1).values.detach()
    #! y = r + 0.9 * q(s2).max(1).values
    loss = nn.functional.mse_loss(q(s).gather(1, a).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 5 == 0:
        target.load_state_dict(q.state_dict())
