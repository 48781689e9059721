# finds: GS202
import torch
from torch import nn


class Batch(torch.Tensor):
    """An ordinary subclass: PyTorch's own `__torch_function__` keeps the type."""


body, head = nn.Linear(3, 8), nn.Linear(8, 1)
opt = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=1e-2)
for _ in range(30):
    x = torch.randn(8, 3).as_subclass(Batch)
    h = torch.tanh(body(x))
    #! h = torch.tanh(body(x)).detach()
    loss = (head(h).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
