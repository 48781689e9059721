# finds: GS205
import torch
from torch import nn

net = nn.Sequential(nn.LazyLinear(8), nn.Tanh(), nn.LazyLinear(1))
net(torch.randn(2, 3))
extra = nn.Linear(1, 1)
opt = torch.optim.Adam([*net.parameters(), *extra.parameters()], lr=1e-2)
#! opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(30):
    x = torch.randn(8, 3)
    loss = (extra(net(x)).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
