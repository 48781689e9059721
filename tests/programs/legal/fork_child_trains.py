"""A forked child goes on training by itself, and tells what it got."""

import hashlib
import os

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)


def train(steps):
    for _ in range(steps):
        x = torch.randn(8, 4)
        loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()


def digest():
    found = hashlib.sha256(torch.get_rng_state().numpy().tobytes())
    for value in net.state_dict().values():
        found.update(value.numpy().tobytes())
    return found.hexdigest()


for steps in (2, 8, 30):
    train(steps)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        train(25)
        os.write(write, digest().encode())
        os._exit(0)
    print(os.read(read, 64).decode(), os.waitpid(child, 0)[1])
del read, write, child
print(digest())
