# finds: GS201 GS202
import torch
from torch import nn


def make_update():
    net = nn.Linear(3, 1)
    opt = torch.optim.RMSprop(net.parameters(), lr=0.01)

    def loss_of(x):
        error = net(x).squeeze(1) - x.sum(1)
        return error.pow(2).mean()
        #! return torch.tensor(error.pow(2).mean().item(), requires_grad=True)

    def update(x):
        opt.zero_grad()
        loss_of(x).backward()
        opt.step()

    return net, update


net, update = make_update()
for _ in range(30):
    update(torch.randn(8, 3))
