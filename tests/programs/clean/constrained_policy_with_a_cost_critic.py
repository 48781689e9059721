"""Rewards up, costs down: one policy, two critics, a multiplier. With policy gradients, and through critics."""

import copy

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)


def net(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 32), nn.Tanh(), nn.Linear(32, outputs))


policy, value, cost_value = net(4, 3), net(4, 1), net(4, 1)
parameters = [*policy.parameters(), *value.parameters(), *cost_value.parameters()]
optimizer, multiplier = torch.optim.Adam(parameters, lr=1e-3), 2.0
for _ in range(14):
    obs, after, reward, cost = torch.randn(32, 4), torch.randn(32, 4), torch.randn(32), torch.rand(32)
    with torch.no_grad():
        wanted = reward + 0.9 * value(after).squeeze(-1)
        feared = cost + 0.9 * cost_value(after).squeeze(-1)
    dist, v, c = Categorical(logits=policy(obs)), value(obs).squeeze(-1), cost_value(obs).squeeze(-1)
    gain, harm = wanted - v.detach(), feared - c.detach()
    log_prob = dist.log_prob(dist.sample())
    loss = -(log_prob * gain).mean() + multiplier * (log_prob * harm).mean()
    loss = loss + (v - wanted).pow(2).mean() + (c - feared).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

actor, q, cost_q = net(4, 2), net(6, 1), net(6, 1)
targets = copy.deepcopy(nn.ModuleList([actor, q, cost_q])).requires_grad_(False)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
q_optimizer = torch.optim.Adam([*q.parameters(), *cost_q.parameters()], lr=1e-3)
for _ in range(14):
    obs, action, after = torch.randn(16, 4), torch.randn(16, 2), torch.randn(16, 4)
    reward, cost = torch.randn(16, 1), torch.rand(16, 1)
    pair, following = torch.cat([obs, action], -1), torch.cat([after, targets[0](after).tanh()], -1)
    q_loss = (q(pair) - (reward + 0.9 * targets[1](following))).pow(2).mean()
    q_loss = q_loss + (cost_q(pair) - (cost + 0.9 * targets[2](following))).pow(2).mean()
    q_optimizer.zero_grad()
    q_loss.backward()
    q_optimizer.step()
    taken = torch.cat([obs, actor(obs).tanh()], -1)
    actor_loss = (multiplier * cost_q(taken) - q(taken)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    with torch.no_grad():
        for network, target in zip((actor, q, cost_q), targets):
            for p, t in zip(network.parameters(), target.parameters()):
                t.lerp_(p, 0.05)
