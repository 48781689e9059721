"""A checkpointed block cuts its input by a length kept on the module, which has changed when backward
computes the block anew.

Class: forward errors
"""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(6)


class SequenceCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.length = 4
        self.inner = nn.Sequential(nn.Linear(5, 32), nn.GELU(), nn.Linear(32, 32))
        self.head = nn.Linear(32, 1)

    def block(self, x):
        return torch.tanh(self.inner(x[:, : self.length]))  # BUG GS101 GS104 GS210

    def forward(self, x):
        hidden = checkpoint(self.block, x, use_reentrant=False)  # BUG GS101 GS104 GS210
        return self.head(hidden).squeeze(-1).mean(1)


critic = SequenceCritic()
optimizer = torch.optim.Adam(critic.parameters(), lr=2e-3)
for update in range(60):
    critic.length = 4 + update % 3
    window = torch.randn(16, 8, 5)
    value = critic(window)
    with torch.no_grad():
        critic.length = 8
        bootstrap = critic(window)
    returns = window[..., 0].mean(1) + 0.1 * bootstrap
    loss = (value - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
