"""The older nested layout, with padding at the end."""

import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(0)
net, head = nn.Linear(4, 8), nn.Linear(8, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=1e-2)
for step in range(30):
    rows = [torch.randn(2 + (step + i) % 3, 4) for i in range(4)]
    batch = torch.nested.nested_tensor(rows)
    hidden = torch.nested.to_padded_tensor(torch.nn.functional.relu(net(batch)), 0.0)
    loss = (head(hidden.sum(1)).squeeze(1) - torch.stack([r.sum() for r in rows])).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(loss))
