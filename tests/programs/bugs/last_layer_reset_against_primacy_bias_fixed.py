"""The last layer is re-initialised now and then by putting a new one in its place."""

import torch
from torch import nn

torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)


def reset_head():
    q[-1].reset_parameters()


for update in range(1, 31):
    obs, action, wanted = torch.randn(16, 4), torch.randint(2, (16, 1)), torch.randn(16, 1)
    loss = nn.functional.smooth_l1_loss(q(obs).gather(1, action), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update == 20:
        reset_head()
