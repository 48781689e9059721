"""A parameter that is itself sparse."""

import torch
from torch import nn

torch.manual_seed(0)
mask = (torch.rand(8, 8) < 0.4).float()
weight = nn.Parameter((torch.randn(8, 8) * mask).to_sparse())
for _ in range(30):
    x = torch.randn(8, 4)
    loss = torch.sparse.mm(weight, x).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        weight.sub_(0.1 * weight.grad)
    weight.grad = None
print(float(loss))
