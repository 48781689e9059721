"""A module anneals its feature scale through the buffer's data at each forward, so backward multiplies by
the scale of a later forward.

Class: hidden writes
"""

import torch
from torch import nn

torch.manual_seed(233)


class AnnealedFeatures(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.lift = nn.Linear(5, width)
        self.register_buffer("scale", torch.linspace(0.5, 1.5, width))

    def forward(self, obs):
        out = torch.tanh(self.lift(obs)) * self.scale
        self.scale.data.mul_(0.9).add_(0.1 * torch.rand_like(self.scale))  # BUG GS104
        return out


class TwinValue(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = AnnealedFeatures()
        self.head = nn.Linear(32, 1)

    def forward(self, obs):
        return self.head(self.features(obs)).squeeze(-1)


net = TwinValue()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for update in range(150):
    left, right = torch.randn(32, 5), torch.randn(32, 5)
    preferred = (left.sum(-1) > right.sum(-1)).float()
    margin = net(left) - net(right)
    loss = nn.functional.binary_cross_entropy_with_logits(margin, preferred)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
