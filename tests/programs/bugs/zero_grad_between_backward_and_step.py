"""A callback clears the gradients at the end of every batch, which is before the step."""

import torch
from torch import nn

torch.manual_seed(0)


class Clearing:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def after_loss(self):
        self.optimizer.zero_grad()  # BUG GS405

    def after_step(self):
        pass


net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
callback = Clearing(optimizer)
for _ in range(12):
    loss = nn.functional.cross_entropy(net(torch.randn(16, 4)), torch.randint(2, (16,)))
    loss.backward()
    callback.after_loss()
    optimizer.step()
    callback.after_step()
