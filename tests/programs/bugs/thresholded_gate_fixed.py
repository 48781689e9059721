"""A gate is thresholded with a comparison before it scales the features."""

import torch
from torch import nn

torch.manual_seed(0)


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.body, self.out = nn.Linear(4, 8), nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, obs):
        open_ = torch.sigmoid(self.gate(obs))
        return self.out(open_ * torch.relu(self.body(obs)))


net = Gated()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(12):
    loss = nn.functional.mse_loss(net(torch.randn(16, 4)), torch.randn(16, 2))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
