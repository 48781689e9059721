# finds: GS202 GS204 GS210
import warnings

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

warnings.simplefilter("ignore")
first, body, head = (
    nn.Linear(3, 8),
    nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Dropout(0.2)),
    nn.Linear(8, 1),
)
opt = torch.optim.Adam([*first.parameters(), *body.parameters(), *head.parameters()], lr=1e-2)
for _ in range(30):
    x = torch.randn(8, 3)
    h = checkpoint(body, first(x), use_reentrant=True)
    #! h = checkpoint(body, first(x).detach(), use_reentrant=True)
    loss = (head(h).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
