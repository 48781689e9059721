"""The spread of a Gaussian is raised to its floor through its data after the log-probability was computed.
Repaired here.

Class: hidden writes
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(223)


class Gaussian(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 4))

    def forward(self, obs):
        mean, raw = self.net(obs).chunk(2, -1)
        return Normal(mean, 0.8 + nn.functional.softplus(raw))


class Explorer:
    """Keeps the policy from becoming too sure of itself."""

    def __init__(self, floor=0.8):
        self.floor = floor

    def apply(self, dist):
        assert bool((dist.scale >= self.floor).all())
        return dist


policy, explorer = Gaussian(), Explorer()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
for update in range(150):
    obs = torch.randn(64, 3)
    dist = policy(obs)
    action = dist.sample()
    log_prob = dist.log_prob(action).sum(-1)
    behaviour = explorer.apply(dist).sample()
    reward = -(action - obs[:, :2]).pow(2).sum(-1)
    advantage = (reward - reward.mean()) / reward.std()
    distance = (behaviour - action).abs().mean()
    loss = -(advantage * log_prob).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("reward", reward.mean().item(), "distance", distance.item())
