"""The whole training in a raw thread."""

import _thread

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
done = _thread.allocate_lock()


def train():
    for _ in range(30):
        x = torch.randn(8, 4)
        loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
    done.release()


done.acquire()
_thread.start_new_thread(train, ())
done.acquire()
del done
print(float(net[0].weight.sum()))
