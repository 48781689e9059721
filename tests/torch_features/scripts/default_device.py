# finds: GS301
import copy

import torch
from torch import nn

with torch.device("cpu"):
    q = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
    target = copy.deepcopy(q)
    opt = torch.optim.Adam(q.parameters(), lr=1e-2)
    for step in range(30):
        s, s2, r = torch.randn(8, 3), torch.randn(8, 3), torch.randn(8)
        y = r + 0.9 * target(s2).max(1).values.detach()
        #! y = r + 0.9 * q(s2).max(1).values
        loss = (q(s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 5 == 0:
            target.load_state_dict(q.state_dict())
