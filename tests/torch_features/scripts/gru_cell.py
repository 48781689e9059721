# finds: GS101
import torch
from torch import nn

cell, head = nn.GRUCell(3, 8), nn.Linear(8, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
for _ in range(30):
    h, losses = torch.zeros(4, 8), []
    for _t in range(5):
        x, done = torch.randn(4, 3), torch.rand(4) < 0.2
        h = cell(x, h)
        losses.append((head(h).squeeze(1) - x.sum(1)).pow(2).mean())
        h = h * (~done).float().unsqueeze(1)
        #! h *= (~done).float().unsqueeze(1)
    opt.zero_grad()
    torch.stack(losses).mean().backward()
    opt.step()
