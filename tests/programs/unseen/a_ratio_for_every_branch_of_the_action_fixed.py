"""A policy with several discrete branches: their log-probs are stacked and never summed, so each branch has a
clipped ratio of its own.
Repaired here.

Round 2
Class: axes
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(215)
BRANCHES = (3, 2, 4)


class BranchingPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.Tanh())
        self.heads = nn.ModuleList(nn.Linear(32, n) for n in BRANCHES)
        self.value = nn.Linear(32, 1)

    def forward(self, obs):
        features = self.body(obs)
        return [Categorical(logits=head(features)) for head in self.heads], self.value(features).squeeze(-1)


def joint_log_prob(dists, actions):
    return torch.stack([d.log_prob(a) for d, a in zip(dists, actions.unbind(-1))], dim=-1).sum(-1)


model = BranchingPolicy()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for iteration in range(20):
    obs = torch.randn(96, 6)
    with torch.no_grad():
        dists, value = model(obs)
        actions = torch.stack([d.sample() for d in dists], -1)
        old = joint_log_prob(dists, actions)
    reward = (actions[:, 0] == obs[:, :3].argmax(1)).float() + 0.5 * actions[:, 1]
    advantage = reward - value
    for _ in range(3):
        dists, value = model(obs)
        ratio = (joint_log_prob(dists, actions) - old).exp()
        surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
        loss = -surrogate.mean() + 0.5 * (value - reward).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
