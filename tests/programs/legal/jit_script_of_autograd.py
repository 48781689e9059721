"""A script that calls `torch.autograd.grad` and `backward` by itself."""

import warnings

import torch

warnings.simplefilter("ignore")


@torch.jit.script
def penalty(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = (x * w).pow(2).sum()
    grads = torch.autograd.grad([y], [x], create_graph=True)
    g = grads[0]
    if g is None:
        return torch.zeros(1)
    return g.pow(2).sum()


@torch.jit.script
def descend(w: torch.Tensor) -> torch.Tensor:
    torch.autograd.backward([w.pow(2).sum()])
    return w


torch.manual_seed(0)
w = torch.ones(4, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.001)
for _ in range(20):
    loss = penalty(torch.randn(4, requires_grad=True), w)
    opt.zero_grad()
    loss.backward()
    opt.step()
opt.zero_grad()
descend(w)
opt.step()
print(w.tolist())
