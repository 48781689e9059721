# finds: GS401
# blind: torch.func
import copy

import torch
from torch import nn
from torch.func import functional_call, grad, stack_module_state, vmap

nets = [nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1)) for _ in range(3)]
params, buffers = stack_module_state(nets)
base = copy.deepcopy(nets[0]).to("meta")
opt = torch.optim.Adam(params.values(), lr=1e-2)


def predict(p, b, x):
    return functional_call(base, (p, b), (x,))


def one_loss(p, b, x):
    return predict(p, b, x).pow(2).mean()


for _ in range(30):
    x = torch.randn(8, 3)
    out = vmap(predict, (0, 0, None))(params, buffers, x).squeeze(2)
    loss = (out - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    #!
    loss.backward()
    opt.step()  # BUG
    per_net = vmap(grad(one_loss), (0, 0, None))(params, buffers, x)
