"""Backward in a raw thread, which `threading` knows nothing of."""

import _thread

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)


def back(loss, done):
    loss.backward()
    done.release()


for _ in range(30):
    x = torch.randn(8, 4)
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    done = _thread.allocate_lock()
    done.acquire()
    _thread.start_new_thread(back, (loss, done))
    done.acquire()
    opt.step()
del done
print(float(loss))
