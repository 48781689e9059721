# finds: GS201 GS202
import torch
from torch import nn
from torch.func import functional_call

net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(30):
    x = torch.randn(8, 3)
    params = {name: p * 1.0 for name, p in net.named_parameters()}
    #! params = {name: p.detach() for name, p in net.named_parameters()}
    loss = (functional_call(net, params, (x,)).squeeze(1) - x.sum(1)).pow(2).mean()
    #! loss = (functional_call(net, params, (x,)).squeeze(1) - x.sum(1)).pow(2).mean().requires_grad_()
    opt.zero_grad()
    loss.backward()
    opt.step()
