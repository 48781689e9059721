"""PPO: what should be the old log-probability is computed in the epoch loop, with the new weights (after
tensorforce #312)."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for _ in range(5):
    obs, advantage = torch.randn(48, 4), torch.randn(48)
    with torch.no_grad():
        action = Categorical(logits=policy(obs)).sample()
    for _ in range(4):
        log_prob = Categorical(logits=policy(obs)).log_prob(action)
        with torch.no_grad():
            old = Categorical(logits=policy(obs)).log_prob(action)  # BUG GS804
        ratio = torch.exp(log_prob - old)
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
