"""Hogwild: threads share the network and its optimizer, under a lock so that the result is one."""

import threading

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
data = torch.randn(4, 20, 8, 4)
turn = threading.Condition()
now = 0


def work(rank):
    global now
    for step in range(20):
        with turn:
            turn.wait_for(lambda: now % 4 == rank)
            x = data[rank, step]
            loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            now += 1
            turn.notify_all()


threads = [threading.Thread(target=work, args=(rank,)) for rank in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
del threads, turn
print(now)
