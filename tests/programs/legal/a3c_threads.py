"""A3C: each thread has a network of its own and hands its gradient to the shared one."""

# races
import copy
import threading

import torch
from torch import nn

shared = nn.Linear(4, 2)
opt = torch.optim.Adam(shared.parameters(), lr=1e-3)
lock = threading.Lock()


def work(rank):
    local = copy.deepcopy(shared)
    for _ in range(40):
        local.load_state_dict(shared.state_dict())
        dist = torch.distributions.Categorical(logits=local(torch.randn(8, 4)))
        actions = dist.sample()
        loss = -(dist.log_prob(actions) * (actions.float() - 0.5)).mean()
        local.zero_grad()
        loss.backward()
        with lock:
            for p, q in zip(shared.parameters(), local.parameters()):
                p.grad = q.grad.clone()
            opt.step()


threads = [threading.Thread(target=work, args=(rank,)) for rank in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print("done")
