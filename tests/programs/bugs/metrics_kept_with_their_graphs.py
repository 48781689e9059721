"""A log keeps entropies and values as tensors with their graphs, to be plotted at the end; no loss uses them again."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)


class Log:
    def __init__(self):
        self.entropies = []

    def note(self, dist):
        entropy = dist.entropy().mean()
        self.entropies.append(entropy)  # BUG GS305


policy, log = nn.Linear(4, 3), Log()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for _ in range(20):
    obs = torch.randn(16, 4)
    dist = Categorical(logits=policy(obs))
    action = dist.sample()
    reward = (action == 0).float()
    loss = -(dist.log_prob(action) * (reward - reward.mean())).mean()
    log.note(dist)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
