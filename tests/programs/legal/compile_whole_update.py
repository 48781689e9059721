"""The whole update, backward included, lies in a compiled function that breaks its graph."""

# fresh
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-2)


@torch.compile
def update(x):
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss


for _ in range(25):
    loss = update(torch.randn(32, 8))
print(float(loss))
