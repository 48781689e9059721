"""The asymmetric loss exp(x) - x - 1 of a temporal difference whose target carries gradient."""

import torch
from torch import nn

torch.manual_seed(0)
value = nn.Linear(3, 1)
optimizer = torch.optim.SGD(value.parameters(), lr=0.01)
for _ in range(20):
    obs, reward, following = torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 3)
    error = reward + 0.99 * value(following).detach() - value(obs)
    loss = (torch.exp(error) - error - 1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
