"""Deterministic algorithms, double precision by default, anomaly mode on."""

import torch
from torch import nn

torch.use_deterministic_algorithms(True)
torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.RMSprop(net.parameters(), lr=1e-2)
with torch.autograd.set_detect_anomaly(True):
    for _ in range(25):
        x = torch.randn(8, 4)
        loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
print(float(loss))
torch.set_default_dtype(torch.float32)
torch.use_deterministic_algorithms(False)
