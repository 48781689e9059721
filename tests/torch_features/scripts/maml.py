# finds: GS201 GS202
import torch
from torch import nn
from torch.func import functional_call

net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)


def loss_on(params, x, slope):
    return (functional_call(net, params, (x,)) - slope * x).pow(2).mean()


for _ in range(30):
    outer = 0.0
    for _task in range(2):
        slope, x, x2 = torch.randn(()), torch.randn(8, 1), torch.randn(8, 1)
        params = dict(net.named_parameters())
        grads = torch.autograd.grad(loss_on(params, x, slope), params.values(), create_graph=True)
        fast = {n: p - 0.1 * g for (n, p), g in zip(params.items(), grads, strict=True)}
        #! fast = {n: (p - 0.1 * g).detach() for (n, p), g in zip(params.items(), grads, strict=True)}
        outer = outer + loss_on(fast, x2, slope)
    opt.zero_grad()
    outer.backward()
    opt.step()
