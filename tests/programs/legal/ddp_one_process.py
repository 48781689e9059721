"""DistributedDataParallel on one process."""

import os

os.environ.update(MASTER_ADDR="127.0.0.1", RANK="0", WORLD_SIZE="1", GLOO_SOCKET_IFNAME="lo")
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
torch.manual_seed(0)
net = DistributedDataParallel(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1)))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(20):
    x = torch.randn(8, 4)
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(loss))
weights = [p.detach().clone() for p in net.parameters()]
dist.destroy_process_group()
del net, opt
