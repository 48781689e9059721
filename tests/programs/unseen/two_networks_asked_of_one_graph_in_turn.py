"""The gradients of the actor and of the critic are asked for one after the other; the first call frees the graph.

Round 6
Class: gradients by hand
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(603)

trunk = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
actor, critic = nn.Linear(16, 2), nn.Linear(16, 1)
for update in range(20):
    obs = torch.randn(32, 4)
    hidden = trunk(obs)
    dist, value = Normal(actor(hidden), 0.5), critic(hidden).squeeze(-1)
    action = dist.sample()
    reward = -(action - obs[:, :2]).pow(2).sum(-1)
    advantage = reward - value
    loss = -(dist.log_prob(action).sum(-1) * advantage.detach()).mean() + advantage.pow(2).mean()
    for_actor = torch.autograd.grad(loss, list(actor.parameters()))
    others = [*trunk.parameters(), *critic.parameters()]
    for_others = torch.autograd.grad(loss, others)  # BUG GS402
    with torch.no_grad():
        for p, g in zip([*actor.parameters(), *others], for_actor + for_others):
            p -= 0.01 * g
