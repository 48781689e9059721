"""FSDP2 on one process."""

import os

os.environ.update(MASTER_ADDR="127.0.0.1", RANK="0", WORLD_SIZE="1", GLOO_SOCKET_IFNAME="lo")
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
mesh = init_device_mesh("cpu", (1,))
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
for layer in (net[0], net[2]):
    fully_shard(layer, mesh=mesh)
fully_shard(net, mesh=mesh)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(20):
    x = torch.randn(8, 4)
    loss = (net(x).sum(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
print(float(loss), [float(p.full_tensor().sum()) for p in net.parameters()])
dist.destroy_process_group()
del net, opt, mesh
