"""A vector quantiser written as an autograd function whose backward gives no gradient."""

import torch
from torch import nn

torch.manual_seed(0)


class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, latent, codes):
        nearest = torch.cdist(latent, codes).argmin(1)
        return codes[nearest]

    @staticmethod
    def backward(ctx, gradient):
        return None, None  # BUG GS211


encoder = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
decoder = nn.Linear(4, 6)
codes = torch.randn(10, 4)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
for _ in range(10):
    frames = torch.randn(16, 6)
    latent = Quantise.apply(encoder(frames), codes)
    loss = nn.functional.mse_loss(decoder(latent), frames)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
