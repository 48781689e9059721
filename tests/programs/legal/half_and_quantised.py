"""Half precision, bfloat16, and a quantised copy for playing."""

import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).to(torch.bfloat16)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(25):
    x = torch.randn(8, 4, dtype=torch.bfloat16)
    loss = (net(x).squeeze(1) - x.sum(1)).float().pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
levels = torch.quantize_per_tensor(net[0].weight.detach().float(), 0.1, 0, torch.qint8)
print(float(loss), int(levels.int_repr().sum()), float(levels.dequantize().sum()))
del levels
