"""fx traces the network while it is trained, and runs what it traced."""

import torch
from torch import fx, nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
traced = fx.symbolic_trace(net)
opt = torch.optim.Adam(traced.parameters(), lr=1e-2)
for step in range(25):
    x = torch.randn(8, 4)
    loss = (traced(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step in (3, 20):
        print(fx.symbolic_trace(net).code)
