"""Every fiftieth update a forward model is trained on features that were cut off: its encoder never learns from it,
and the inverse model learns nothing at all."""

import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
value, inverse = nn.Linear(16, 1), nn.Linear(32, 2)
optimizer = torch.optim.Adam([*encoder.parameters(), *value.parameters()], lr=1e-3)
auxiliary = torch.optim.Adam(inverse.parameters(), lr=1e-3)
for update in range(1, 401):
    obs = torch.randn(32, 4)
    loss = (value(encoder(obs)).squeeze(-1) - obs.sum(-1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 50 == 0:
        before, after, action = torch.randn(32, 4), torch.randn(32, 4), torch.randint(2, (32,))
        guess = inverse(torch.cat([encoder(before), encoder(after)], -1))
        miss = nn.functional.cross_entropy(guess, action)
        auxiliary.zero_grad()
        miss.backward()
        auxiliary.step()
