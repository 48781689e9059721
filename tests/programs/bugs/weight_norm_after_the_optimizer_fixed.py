"""Weight normalisation is applied after the optimizer was made: the weight it owns is gone."""

import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

torch.manual_seed(0)
body = nn.Linear(4, 16)
head = nn.Linear(16, 2)
body = weight_norm(body)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=1e-2)
for _ in range(14):
    obs, wanted = torch.randn(16, 4), torch.randn(16, 2)
    loss = nn.functional.mse_loss(head(torch.relu(body(obs))), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
