"""Parameters that are DTensors on a mesh of one process."""

import os

os.environ.update(MASTER_ADDR="127.0.0.1", RANK="0", WORLD_SIZE="1", GLOO_SOCKET_IFNAME="lo")
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_module, distribute_tensor

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
mesh = init_device_mesh("cpu", (1,))
torch.manual_seed(0)
weight = nn.Parameter(distribute_tensor(torch.randn(4, 4), mesh, [Shard(0)]))
net = distribute_module(nn.Linear(4, 1), mesh)
opt = torch.optim.Adam([weight, *net.parameters()], lr=1e-2)
for _ in range(20):
    x = distribute_tensor(torch.randn(8, 4), mesh, [Replicate()])
    loss = (net(torch.tanh(x @ weight)).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_([weight, *net.parameters()], 1.0)
    opt.step()
print(float(loss.full_tensor()), float(weight.full_tensor().sum()))
dist.destroy_process_group()
del mesh, x, loss, weight, net, opt
