"""Hard Gumbel-softmax, a straight-through categorical and a rounding with a passed-through gradient."""

import torch
from torch import nn

torch.manual_seed(0)


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


encoder = nn.Sequential(nn.Linear(6, 24), nn.ELU(), nn.Linear(24, 12))
level = nn.Linear(6, 1)
decoder = nn.Linear(13, 6)
modules = nn.ModuleList([encoder, level, decoder])
optimizer = torch.optim.Adam(modules.parameters(), lr=1e-3)
for step in range(12):
    obs = torch.randn(16, 6)
    logits = encoder(obs).view(16, 3, 4)
    if step % 2:
        code = nn.functional.gumbel_softmax(logits, hard=True, dim=-1)
    else:
        dist = torch.distributions.OneHotCategorical(logits=logits)
        code = dist.sample() + dist.probs - dist.probs.detach()
    steps = Round.apply(3 * torch.sigmoid(level(obs)))
    loss = nn.functional.mse_loss(decoder(torch.cat([code.flatten(1), steps], -1)), obs)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
