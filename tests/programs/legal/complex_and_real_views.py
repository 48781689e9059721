"""Complex parameters, seen as real ones."""

import torch
from torch import nn

torch.manual_seed(0)
weight = nn.Parameter(torch.randn(4, 4, dtype=torch.complex64) / 2)
opt = torch.optim.Adam([weight], lr=1e-2)
for _ in range(25):
    x = torch.randn(8, 4, dtype=torch.complex64)
    loss = torch.view_as_real(x @ weight - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_([weight], 1.0)
    opt.step()
print(float(loss))
