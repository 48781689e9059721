"""The behaviour policy's log-probabilities drift away, and after a while the ratio overflows."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(policy.parameters(), lr=1e-4)
for update in range(26):
    obs, action, advantage = torch.randn(16, 4), torch.randint(3, (16,)), torch.randn(16)
    behaviour = torch.full((16,), -1.1 - 0.2 * update * update)
    log_prob = torch.distributions.Categorical(logits=policy(obs)).log_prob(action)
    ratio = torch.exp(log_prob - behaviour)  # BUG GS503
    loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
