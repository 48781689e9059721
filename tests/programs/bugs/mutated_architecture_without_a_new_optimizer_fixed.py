"""Evolution widens the network in the middle of the run; the optimizer still holds the narrow one."""

import torch
from torch import nn

torch.manual_seed(0)


def build(width):
    return nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 1))


class Learner:
    def __init__(self):
        self.net = build(8)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=1e-2)

    def widen(self, width):
        old = self.net
        self.net = build(width)
        with torch.no_grad():
            self.net[0].weight[:8] = old[0].weight
            self.net[0].bias[:8] = old[0].bias
            self.net[2].weight[:, :8] = old[2].weight
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=1e-2)

    def update(self):
        obs = torch.randn(32, 4)
        loss = (self.net(obs).squeeze(-1) - obs.sum(-1)).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


learner = Learner()
for update in range(500):
    if update == 350:
        learner.widen(16)
    learner.update()
