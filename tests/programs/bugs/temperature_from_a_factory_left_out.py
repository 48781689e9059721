"""The temperature is a leaf made by `torch.ones(..., requires_grad=True)` inside the loop's set-up; it gets gradient and
no optimizer owns it."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Linear(4, 3)
temperature = torch.ones(1, requires_grad=True)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)  # BUG GS205
for update in range(20):
    obs, action, gain = torch.randn(16, 4), torch.randint(3, (16, 1)), torch.randn(16)
    log_prob = torch.log_softmax(policy(obs) / temperature, -1).gather(1, action).squeeze(1)
    loss = -(log_prob * gain).mean() + 0.01 * temperature.pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
