# finds: GS301
import queue
import threading

import torch
from torch import nn

q = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
target = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=1e-2)
batches: queue.Queue = queue.Queue(2)


def learn():
    while (batch := batches.get()) is not None:
        s, s2, r = batch
        y = r + 0.9 * target(s2).max(1).values.detach()
        #! y = r + 0.9 * q(s2).max(1).values
        loss = (q(s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


learner = threading.Thread(target=learn)
learner.start()
for _ in range(30):
    batches.put((torch.randn(8, 3), torch.randn(8, 3), torch.randn(8)))
batches.put(None)
learner.join()
learner = batches = None
