"""SPR-like agent: the running scale of the features is updated in place on every forward."""

import torch
from torch import nn

torch.manual_seed(1)


class RunningScale(nn.Module):
    def __init__(self, size, momentum=0.05):
        super().__init__()
        self.register_buffer("scale", torch.ones(size))
        self.momentum = momentum

    def forward(self, x):
        if self.training:
            batch = x.detach().std(0) + 1e-3
            self.scale = torch.lerp(self.scale, batch, self.momentum)
        return x / self.scale


encoder = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), RunningScale(12))
predictor = nn.Linear(12, 12)
value = nn.Linear(12, 1)
modules = nn.ModuleList([encoder, predictor, value])
optimizer = torch.optim.Adam(modules.parameters(), lr=1e-3)
for _ in range(12):
    first, second, returns = torch.randn(16, 4), torch.randn(16, 4), torch.randn(16)
    value_error = value(encoder(first)).squeeze(-1) - returns
    consistency = predictor(encoder(second)) - torch.randn(16, 12)
    loss = value_error.pow(2).mean() + 0.1 * consistency.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
