"""A loss scale that overflows half precision now and then: the scaler skips the step and lowers the scale."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**18, growth_interval=6)
for _ in range(40):
    x = torch.randn(16, 4)
    with torch.autocast("cpu", dtype=torch.float16):
        out = net(x).squeeze(1)
    loss = (out.float() - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
print(scaler.get_scale(), float(loss))
