"""Real Hogwild: no lock at all. The weights differ from run to run; nothing may break."""
# races
import threading

import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))


def work(rank):
    opt = torch.optim.SGD(net.parameters(), lr=0.001)
    for _ in range(60):
        x = torch.randn(8, 4)
        loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


threads = [threading.Thread(target=work, args=(rank,)) for rank in range(6)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print("done")
