"""PyTorch's own masked tensors."""

import warnings

import torch
from torch import nn
from torch.masked import masked_tensor

warnings.simplefilter("ignore")
torch.manual_seed(0)
scale = nn.Parameter(torch.ones(4))
opt = torch.optim.SGD([scale], lr=0.05)
for _ in range(20):
    x = torch.randn(4)
    masked = masked_tensor(x, x > -0.5)
    mean = masked_tensor(scale * x, x > -0.5, requires_grad=False) if False else masked.sum()
    loss = (scale * x * (x > -0.5)).sum().sub(float(mean.get_data())).pow(2)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(scale.tolist())
