"""Daemon threads are still training when the program ends."""

# races
import threading

import torch
from torch import nn

ready = threading.Event()


def work():
    net = nn.Linear(4, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.001)
    for step in range(10_000_000):
        x = torch.randn(8, 4)
        loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step == 30:
            ready.set()


for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
ready.wait()
print("done")
