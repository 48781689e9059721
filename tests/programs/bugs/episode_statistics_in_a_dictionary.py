"""Statistics of every update are kept in a dictionary of lists, entropy and values with their graphs."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)


class Logger:
    def __init__(self):
        self.rows = {}

    def store(self, **values):
        for name, value in values.items():
            self.rows.setdefault(name, []).append(value)


policy, critic, logger = nn.Linear(4, 3), nn.Linear(4, 1), Logger()
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=1e-3)
for update in range(100):
    obs, action, returns = torch.randn(16, 4), torch.randint(3, (16,)), torch.randn(16)
    dist, values = Categorical(logits=policy(obs)), critic(obs).squeeze(-1)
    entropy = dist.entropy().mean()
    advantage = (returns - values).detach()
    loss = -(dist.log_prob(action) * advantage).mean() + (values - returns).pow(2).mean() - 0.01 * entropy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    logger.store(entropy=entropy, value=values.mean())  # BUG GS305 GS102
