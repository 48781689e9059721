"""The loss keeps one entry per agent, and backward wants a scalar."""

import torch
from torch import nn

torch.manual_seed(0)


class IndependentLearners(nn.Module):
    def __init__(self, agents=3):
        super().__init__()
        self.nets = nn.ModuleList(nn.Linear(4, 2) for _ in range(agents))

    def loss(self, obs, action, wanted):
        q = torch.stack([net(o) for net, o in zip(self.nets, obs)])
        error = q.gather(-1, action).squeeze(-1) - wanted
        return error.square().mean(dim=1)  # BUG GS403


learners = IndependentLearners()
optimizer = torch.optim.Adam(learners.parameters(), lr=1e-3)
for _ in range(6):
    loss = learners.loss(torch.randn(3, 16, 4), torch.randint(2, (3, 16, 1)), torch.randn(3, 16))
    optimizer.zero_grad()
    loss.backward()  # BUG GS403
    optimizer.step()
