"""Option-critic: the termination's probability is weighed with a live advantage of the option.
Repaired here.

Round 8
Class: weights
"""

import torch
from torch import nn

torch.manual_seed(813)
OPTIONS = 4


class OptionCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(6, 32), nn.ReLU())
        self.q = nn.Linear(32, OPTIONS)
        self.beta = nn.Linear(32, OPTIONS)

    def losses(self, obs, option, target):
        hidden = self.features(obs)
        q = self.q(hidden)
        chosen = q.gather(1, option).squeeze(1)
        td = 0.5 * (chosen - target).pow(2).mean()
        stop = self.beta(hidden.detach()).sigmoid().gather(1, option).squeeze(1)
        advantage = (chosen - q.max(1).values + 0.01).detach()
        return td + (stop * advantage).mean()


agent = OptionCritic()
optimizer = torch.optim.RMSprop(agent.parameters(), lr=5e-4)
for step in range(80):
    obs, option = torch.randn(32, 6), torch.randint(OPTIONS, (32, 1))
    optimizer.zero_grad()
    agent.losses(obs, option, obs[:, 0] * option.squeeze(1)).backward()
    optimizer.step()
