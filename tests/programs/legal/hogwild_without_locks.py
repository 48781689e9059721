"""Real Hogwild: no lock at all. The weights differ from run to run; nothing may break."""

# races
import copy
import threading

import torch
from torch import nn

shared = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))


def work(rank):
    net = copy.deepcopy(shared)
    for _ in range(60):
        net.load_state_dict(shared.state_dict())
        x = torch.randn(8, 4)
        loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
        grads = torch.autograd.grad(loss, list(net.parameters()))
        with torch.no_grad():
            for p, g in zip(shared.parameters(), grads):
                p.sub_(0.001 * g)


threads = [threading.Thread(target=work, args=(rank,)) for rank in range(6)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print("done")
