# finds: GS202
import torch
from torch import nn

body, head = nn.Linear(3, 8), nn.Linear(8, 1)
opt = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=1e-2)


@torch.compile(backend="eager")
def predict(x):
    h = torch.tanh(body(x))
    #! h = torch.tanh(body(x)).detach()
    return head(h).squeeze(1)


for _ in range(24):
    x = torch.randn(8, 3)
    loss = (predict(x) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
