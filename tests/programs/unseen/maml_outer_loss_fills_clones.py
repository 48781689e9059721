"""Meta-learning: the adapted weights are made into new leaves, so that the outer loss trains the copies and
never the initialisation.

Class: gradients by hand
"""

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(31)
net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
meta_opt = torch.optim.Adam(net.parameters(), lr=5e-3)
INNER_LR = 0.05


def task():
    amplitude, phase = 1 + torch.rand(1), 3.14 * torch.rand(1)

    def draw():
        x = 4 * torch.rand(16, 1) - 2
        return x, amplitude * torch.sin(x + phase)

    return draw


def loss_with(weights, batch):
    x, y = batch
    return (functional_call(net, weights, (x,)) - y).pow(2).mean()


def adapt(weights, batch):
    loss = loss_with(weights, batch)
    gradients = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
    adapted = {}
    for (name, weight), gradient in zip(weights.items(), gradients):
        moved = weight - INNER_LR * gradient
        adapted[name] = moved.detach().requires_grad_()  # BUG GS202 GS201
    return adapted


for update in range(60):
    meta_opt.zero_grad()
    for _ in range(3):
        draw = task()
        adapted = adapt(dict(net.named_parameters()), draw())
        outer = loss_with(adapted, draw()) / 3
        outer.backward()
    meta_opt.step()
print("outer loss", 3 * outer.item())
