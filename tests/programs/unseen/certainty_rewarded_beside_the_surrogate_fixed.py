"""The entropy of the policy is added to the loss with the sign of the surrogate's, not with its own.
Repaired here.

Round 6
Class: meaning
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(619)


class PPO:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 4))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    def update(self, obs, action, old, advantage):
        dist = Categorical(logits=self.net(obs))
        ratio = (dist.log_prob(action) - old).exp()
        surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
        bonus = 0.02 * dist.entropy()
        loss = -(surrogate + bonus).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


agent = PPO()
for update in range(20):
    obs = torch.randn(64, 5)
    with torch.no_grad():
        dist = Categorical(logits=agent.net(obs))
        action = dist.sample()
        old = dist.log_prob(action)
    reward = (action == obs[:, :4].argmax(-1)).float()
    for epoch in range(3):
        agent.update(obs, action, old, reward - reward.mean())
