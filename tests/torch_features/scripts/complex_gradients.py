# finds: GS202
import torch
from torch import nn

phase = nn.Parameter(torch.randn(3, 4, dtype=torch.cfloat))
head = nn.Linear(4, 1)
opt = torch.optim.Adam([phase, *head.parameters()], lr=1e-2)
for _ in range(30):
    x = torch.randn(8, 3)
    z = torch.exp(1j * x.to(torch.cfloat)) @ phase
    #! z = torch.exp(1j * x.to(torch.cfloat)) @ phase.detach()
    loss = (head(z.abs()) + head(z.real) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
