# finds: GS102
import torch
from torch import nn

one, two = nn.Linear(3, 4), nn.Linear(4, 1)
fused = torch.optim.Adam(one.parameters(), lr=1e-2, fused=True)
foreach = torch.optim.SGD(two.parameters(), lr=1e-2, momentum=0.9, foreach=True)
for _ in range(30):
    x = torch.randn(8, 3)
    out = two(torch.tanh(one(x))).squeeze(1)
    first, second = (out - x.sum(1)).pow(2).mean(), out.pow(2).mean()
    fused.zero_grad()
    foreach.zero_grad()
    first.backward(retain_graph=True)
    #!+ foreach.step()
    second.backward()
    fused.step()
    foreach.step()
