"""Empty batches, tensors without elements, scalars, and integer parameters that do not learn."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
steps = nn.Parameter(torch.zeros((), dtype=torch.long), requires_grad=False)
nothing = nn.Parameter(torch.zeros(0, 3))
opt = torch.optim.SGD([*net.parameters(), nothing], lr=0.05)
for step in range(25):
    x = torch.randn(0 if step % 5 == 4 else 8, 4)
    loss = net(x).pow(2).sum() + nothing.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    steps += 1
print(int(steps), float(loss))
