"""SAC in one file: the actor is led by the smaller of both critics."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(18)
actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 4))
qf1 = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
qf2 = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
qf1_target, qf2_target = copy.deepcopy(qf1), copy.deepcopy(qf2)
q_optimizer = torch.optim.Adam([*qf1.parameters(), *qf2.parameters()], lr=1e-3)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)


def act(obs):
    mean, log_std = actor(obs).chunk(2, -1)
    dist = torch.distributions.Normal(mean, log_std.clamp(-5, 2).exp())
    action = dist.rsample()
    return action, dist.log_prob(action).sum(-1, keepdim=True)


for step in range(24):
    obs, action, following, reward = (
        torch.randn(32, 3),
        torch.randn(32, 2),
        torch.randn(32, 3),
        torch.randn(32, 1),
    )
    with torch.no_grad():
        new, log_prob = act(following)
        pair = torch.cat([following, new], 1)
        target = reward + 0.99 * (torch.min(qf1_target(pair), qf2_target(pair)) - 0.2 * log_prob)
    pair = torch.cat([obs, action], 1)
    qf_loss = F.mse_loss(qf1(pair), target) + F.mse_loss(qf2(pair), target)
    q_optimizer.zero_grad()
    qf_loss.backward()
    q_optimizer.step()

    new, log_prob = act(obs)
    pair = torch.cat([obs, new], 1)
    first = qf1(pair)
    second = qf2(pair)
    smaller = torch.min(first, second)
    actor_loss = (0.2 * log_prob - smaller).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    for net, slow in ((qf1, qf1_target), (qf2, qf2_target)):
        for new, old in zip(net.parameters(), slow.parameters()):
            old.data.copy_(0.01 * new.data + 0.99 * old.data)
