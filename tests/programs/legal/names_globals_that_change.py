"""A thread adds and removes variables while names are looked for."""

# races
import threading

import torch
from torch import nn

stop = threading.Event()
registry = {}


def churn():
    n = 0
    while not stop.is_set():
        n += 1
        registry[f"k{n % 150}"] = object()
        globals()[f"g{n % 50}"] = n
        registry.pop(f"k{(n * 7) % 150}", None)
        globals().pop(f"g{(n * 7) % 50}", None)


thread = threading.Thread(target=churn)
thread.start()
for round in range(12):
    net = nn.Linear(4, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    for _ in range(3):
        x = torch.randn(8, 4)
        loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
stop.set()
thread.join()
print("done")
