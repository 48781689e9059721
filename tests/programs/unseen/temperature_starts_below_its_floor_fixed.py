"""The temperature's logarithm is clamped from below, and starts under the floor.
Repaired here.

Round 6
Class: zero in part
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(605)

policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
log_alpha = nn.Parameter(torch.tensor(-1.5))
policy_optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
alpha_optimizer = torch.optim.Adam([log_alpha], lr=1e-2)


def temperature():
    return log_alpha.clamp(min=-2.0).exp()


for update in range(120):
    obs = torch.randn(32, 4)
    dist = Categorical(logits=policy(obs))
    action = dist.sample()
    reward = (action == obs[:, :3].argmax(-1)).float()
    loss = -(dist.log_prob(action) * (reward - reward.mean())).mean()
    loss = loss - temperature().detach() * dist.entropy().mean()
    policy_optimizer.zero_grad()
    loss.backward()
    policy_optimizer.step()
    alpha_loss = temperature() * (dist.entropy().detach().mean() - 0.9)
    alpha_optimizer.zero_grad()
    alpha_loss.backward()
    alpha_optimizer.step()
