"""FSDP2 with gradients accumulated over two micro-batches."""

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
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
fully_shard(net, mesh=mesh, reshard_after_forward=False)
opt = torch.optim.SGD(net.parameters(), lr=1e-2)
for _ in range(15):
    opt.zero_grad()
    for last in (False, True):
        net.set_requires_gradient_sync(last)
        x = torch.randn(8, 4)
        loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean() / 2
        loss.backward()
    opt.step()
print(float(loss), [float(p.full_tensor().sum()) for p in net.parameters()])
dist.destroy_process_group()
del net, opt, mesh
