"""A helper standardises along an axis; the advantages of one caller are a column, and are standardised along it.
Repaired here.

Round 8
Class: the line
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(822)


def standardise(x, dim):
    mean = x.mean(dim, keepdim=True)
    return (x - mean) / (x.std(dim, keepdim=True, unbiased=False) + 1e-6)


net = nn.Sequential(nn.Linear(6, 32), nn.ReLU())
pi, v = nn.Linear(32, 4), nn.Linear(32, 1)
optimizer = torch.optim.Adam([*net.parameters(), *pi.parameters(), *v.parameters()], lr=1e-3)
for update in range(40):
    obs = standardise(torch.randn(64, 6) * 3 + 1, 1)
    hidden = net(obs)
    dist, value = Categorical(logits=pi(hidden)), v(hidden)
    action = dist.sample()
    returns = (action == (obs[:, 0] > 0).long()).float().unsqueeze(1)
    advantage = standardise((returns - value).detach(), 0)
    policy_loss = -(dist.log_prob(action).unsqueeze(1) * advantage).mean()
    loss = policy_loss + 0.5 * (value - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
