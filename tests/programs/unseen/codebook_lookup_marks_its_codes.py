"""A vector quantiser marks the quantised features as not differentiable, where it meant the indices.

Round 2
Class: custom functions
"""

import torch
from torch import nn

torch.manual_seed(232)


class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, features, codebook):
        distance = torch.cdist(features, codebook)
        index = distance.argmin(-1)
        quantised = codebook[index]
        ctx.mark_non_differentiable(quantised)  # BUG GS211 GS202
        return quantised, index

    @staticmethod
    def backward(ctx, grad_quantised, grad_index):  # BUG GS211
        return grad_quantised, None


class WorldModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(6, 8)
        self.register_buffer("codebook", torch.randn(16, 8))
        self.decoder = nn.Linear(8, 6)
        self.reward = nn.Linear(8, 1)

    def forward(self, obs):
        code, _ = Quantise.apply(self.encoder(obs), self.codebook)  # BUG GS211 GS202
        return self.decoder(code), self.reward(code).squeeze(-1)


model = WorldModel()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for _ in range(60):
    obs = torch.randn(64, 6)
    decoded, reward = model(obs)
    loss = (decoded - obs).pow(2).mean() + (reward - obs[:, 0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
