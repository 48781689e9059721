"""A vectorised actor-critic computes its advantages from values that the same loss trains.

Round 6
Class: weights
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(611)

pi = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
vf = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*pi.parameters(), *vf.parameters()], lr=1e-3)


def gae(rewards, values, gamma=0.97, lam=0.9):
    errors = rewards + gamma * values[1:] - values[:-1]
    out, carry = [], torch.zeros_like(errors[0])
    for error in errors.flip(0):
        carry = error + gamma * lam * carry
        out.append(carry)
    return torch.stack(out).flip(0)


for update in range(40):
    obs = torch.randn(13, 8, 4)
    values = vf(obs).squeeze(-1)
    dist = Categorical(logits=pi(obs[:-1]))
    action = dist.sample()
    rewards = (action == (obs[:-1, :, 0] > 0).long()).float()
    advantage = gae(rewards, values)  # BUG GS303
    policy_loss = -(dist.log_prob(action) * advantage).mean()  # BUG GS303
    value_loss = (values[:-1] - (advantage + values[:-1]).detach()).pow(2).mean()
    optimizer.zero_grad()
    (policy_loss + 0.5 * value_loss).backward()
    optimizer.step()
