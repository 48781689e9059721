# finds: GS202
import torch
from torch import nn
from torch.nn.utils import parametrizations

body = parametrizations.weight_norm(nn.Linear(3, 8))
head = parametrizations.spectral_norm(nn.Linear(8, 1))
opt = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=1e-2)
for _ in range(30):
    x = torch.randn(8, 3)
    h = torch.relu(body(x))
    #! h = torch.relu(body(x).detach())
    loss = (head(h).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
