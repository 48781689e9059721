"""An action with several discrete parts: the log-probabilities of the parts are not summed before the ratio is clipped.
Repaired here.

Round 10
Class: axes
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1006)
PARTS, CHOICES = 3, 5


class Branching(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 48), nn.Tanh(), nn.Linear(48, PARTS * CHOICES))

    def forward(self, obs):
        return Categorical(logits=self.net(obs).view(-1, PARTS, CHOICES))


policy = Branching()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for update in range(30):
    obs = torch.randn(64, 8)
    with torch.no_grad():
        dist = policy(obs)
        action = dist.sample()
        old = dist.log_prob(action).sum(-1, keepdim=True)
        reward = (action == obs[:, :PARTS].long().clamp(0, 4)).float().sum(-1, keepdim=True)
        advantage = (reward - reward.mean()) / (reward.std() + 1e-6)
    for _ in range(3):
        new = policy(obs).log_prob(action).sum(-1, keepdim=True)
        ratio = (new - old).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.9, 1.1) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
