"""torch.func: an ensemble by vmap over stacked parameters."""

import copy

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

torch.manual_seed(0)
members = [nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)) for _ in range(3)]
params, buffers = stack_module_state(members)
base = copy.deepcopy(members[0]).to("meta")
opt = torch.optim.Adam(params.values(), lr=1e-2)
for _ in range(20):
    x = torch.randn(8, 4)
    out = vmap(lambda p, b, x: functional_call(base, (p, b), (x,)), (0, 0, None))(params, buffers, x)
    loss = (out.squeeze(-1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(loss))
