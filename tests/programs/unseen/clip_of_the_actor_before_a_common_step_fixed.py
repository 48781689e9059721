"""One optimizer steps actor and critic; the clip is given the actor.
Repaired here.

Round 6
Class: magnitude
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(615)


class A2C(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))


net = A2C()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for update in range(40):
    obs = torch.randn(32, 4)
    dist, value = Normal(net.actor(obs).squeeze(-1), 0.3), net.critic(obs).squeeze(-1)
    action = dist.sample()
    returns = -10 * (action - obs[:, 0]).pow(2)
    loss = -(dist.log_prob(action) * (returns - value).detach()).mean() + (value - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    optimizer.step()
