"""A policy attends over memory slots: the softmax of scores with a last axis of one runs along that axis.

Round 9
Class: axes
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(906)


class SlotPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(6, 24)
        self.score = nn.Linear(24, 1)
        self.logits = nn.Linear(24, 4)

    def forward(self, slots):
        items = torch.relu(self.embed(slots))
        weight = self.score(items).softmax(dim=-1)  # BUG GS604
        return Categorical(logits=self.logits((weight * items).sum(1)))


policy = SlotPolicy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for update in range(40):
    slots = torch.randn(32, 5, 6)
    dist = policy(slots)
    action = dist.sample()
    reward = (action == slots[:, 0, :4].argmax(-1)).float()
    loss = -(dist.log_prob(action) * (reward - reward.mean())).mean() - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
