"""A sampler without a gradient serves for acting and for the actor's loss, which needs one.

Round 9
Class: the line
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(920)


def draw(net, obs, differentiable=False):
    mean, log_std = net(obs).chunk(2, -1)
    dist = Normal(mean, log_std.clamp(-3, 0).exp())
    return dist.rsample() if differentiable else dist.sample()  # BUG GS203


actor = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 4))
critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(60):
    obs = torch.randn(32, 4)
    with torch.no_grad():
        action = draw(actor, obs)
    reward = -(action - obs[:, :2]).pow(2).sum(-1, keepdim=True)
    critic_opt.zero_grad()
    (critic(torch.cat([obs, action], -1)) - reward).pow(2).mean().backward()
    critic_opt.step()
    critic.requires_grad_(False)
    proposal = draw(actor, obs)  # BUG GS203
    magnitude = 1e-3 * actor(obs).pow(2).mean()
    loss = magnitude - critic(torch.cat([obs, proposal], -1)).mean()
    actor_opt.zero_grad()
    loss.backward()
    actor_opt.step()
    critic.requires_grad_(True)
