# finds: GS202
# blind: torch.compile
import torch
from torch import nn

body, head = nn.Linear(3, 8), nn.Linear(8, 1)
opt = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=1e-2)


@torch.compile(backend="eager")
def features(x):
    return torch.tanh(body(x))


for _ in range(24):
    x = torch.randn(8, 3)
    h = features(x)
    #! h = features(x).detach()
    loss = (head(h).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
