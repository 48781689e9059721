"""A leaky memory of embeddings is carried live from update to update; `retain_graph=True` silences the error."""

import torch
from torch import nn

torch.manual_seed(0)
embed, value = nn.Linear(4, 8), nn.Linear(8, 1)
optimizer = torch.optim.SGD([*embed.parameters(), *value.parameters()], lr=1e-2)
memory = torch.zeros(16, 8)
for update in range(40):
    obs, returns = torch.randn(16, 4), torch.randn(16, 1)
    memory = 0.8 * memory.detach() + torch.tanh(embed(obs))
    loss = (value(memory) - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
