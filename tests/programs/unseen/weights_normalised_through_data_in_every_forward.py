"""A layer limits its own weight through `.data` at each forward; two forwards come before one backward.

Round 9
Class: hidden writes
"""

import torch
from torch import nn

torch.manual_seed(915)


class Bounded(nn.Linear):
    def forward(self, x):
        scale = self.weight.norm() / 0.2
        self.weight.data.div_(scale.detach().clamp(min=1.0).sqrt())  # BUG GS104
        return nn.functional.linear(x, self.weight, self.bias)


net = nn.Sequential(Bounded(6, 64), nn.ReLU(), Bounded(64, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for update in range(40):
    better, worse = torch.randn(32, 6), torch.randn(32, 6)
    better[:, 0] += 1
    margin = net(better) - net(worse)
    loss = -nn.functional.logsigmoid(margin).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
