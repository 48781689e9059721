"""A functional target: detach without clone still shares the memory of the online parameters."""

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)


def frozen_copy():
    return {name: p.detach() for name, p in q.named_parameters()}  # BUG GS306


target = frozen_copy()
for step in range(1, 21):
    obs, action, reward = torch.randn(16, 4), torch.randint(2, (16, 1)), torch.randn(16)
    with torch.no_grad():
        after = functional_call(q, target, (torch.randn(16, 4),)).amax(1)
    loss = nn.functional.smooth_l1_loss(q(obs).gather(1, action).squeeze(1), reward + 0.9 * after)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 8 == 0:
        target = frozen_copy()
