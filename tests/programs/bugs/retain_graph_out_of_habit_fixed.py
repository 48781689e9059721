"""retain_graph=True was once added to silence an error; nothing uses the graph again."""

import torch
from torch import nn

torch.manual_seed(0)


def update(module, optimizer, batch):
    obs, wanted = batch
    loss = nn.functional.mse_loss(module(obs), wanted)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()


critics = nn.ModuleList(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)) for _ in range(2))
optimizers = [torch.optim.Adam(c.parameters(), lr=1e-3) for c in critics]
for _ in range(12):
    batch = torch.randn(16, 4), torch.randn(16, 1)
    for critic, optimizer in zip(critics, optimizers):
        update(critic, optimizer, batch)
