"""Robust control: an adversary lowers what the protagonist raises. With policy gradients and through one critic."""

import copy

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)


def net(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 32), nn.Tanh(), nn.Linear(32, outputs))


hero, foe, value = net(4, 3), net(4, 2), net(4, 1)
hero_optimizer = torch.optim.Adam([*hero.parameters(), *value.parameters()], lr=1e-3)
foe_optimizer = torch.optim.Adam(foe.parameters(), lr=1e-3)
for _ in range(14):
    obs, after, reward = torch.randn(32, 4), torch.randn(32, 4), torch.randn(32)
    with torch.no_grad():
        target = reward + 0.9 * value(after).squeeze(-1)
    v, ours, theirs = value(obs).squeeze(-1), Categorical(logits=hero(obs)), Categorical(logits=foe(obs))
    advantage = target - v.detach()
    hero_loss = -(ours.log_prob(ours.sample()) * advantage).mean() + (v - target).pow(2).mean()
    hero_optimizer.zero_grad()
    hero_loss.backward()
    hero_optimizer.step()
    foe_loss = (theirs.log_prob(theirs.sample()) * advantage).mean()
    foe_optimizer.zero_grad()
    foe_loss.backward()
    foe_optimizer.step()

actor, disturber, critic = net(4, 2), net(4, 1), net(7, 1)
target_critic = copy.deepcopy(critic)
optimizers = [torch.optim.Adam(n.parameters(), lr=1e-3) for n in (actor, disturber, critic)]


def take(optimizer, loss):
    for other in optimizers:
        other.zero_grad()
    loss.backward()
    optimizer.step()


for _ in range(14):
    obs, action, after = torch.randn(16, 4), torch.randn(16, 3), torch.randn(16, 4)
    with torch.no_grad():
        following = torch.cat([after, actor(after).tanh(), disturber(after).tanh()], -1)
        target = torch.randn(16, 1) + 0.9 * target_critic(following)
    ours = torch.cat([obs, actor(obs).tanh(), disturber(obs).tanh().detach()], -1)
    take(optimizers[0], -critic(ours).mean())
    theirs = torch.cat([obs, actor(obs).tanh().detach(), disturber(obs).tanh()], -1)
    take(optimizers[1], critic(theirs).mean())
    take(optimizers[2], (critic(torch.cat([obs, action], -1)) - target).pow(2).mean())
    with torch.no_grad():
        for p, t in zip(critic.parameters(), target_critic.parameters()):
            t.lerp_(p, 0.05)
