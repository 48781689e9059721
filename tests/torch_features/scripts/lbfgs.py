# finds: GS401
import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=4)
x = torch.randn(16, 3)


def closure():
    opt.zero_grad()
    #!
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    loss.backward()
    return loss


for _ in range(20):
    opt.step(closure)  # BUG
