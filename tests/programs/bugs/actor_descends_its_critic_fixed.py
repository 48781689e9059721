"""DDPG in one file: the actor's loss is the critic's value itself, and is made small."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
actor_target, critic_target = copy.deepcopy(actor), copy.deepcopy(critic)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-4)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(16):
    obs, action, after = torch.randn(32, 3), torch.rand(32, 2) * 2 - 1, torch.randn(32, 3)
    reward, done = torch.randn(32, 1), (torch.rand(32, 1) < 0.1).float()
    with torch.no_grad():
        next_value = critic_target(torch.cat([after, actor_target(after)], 1))
        target = reward + 0.99 * (1 - done) * next_value
    critic_loss = nn.functional.mse_loss(critic(torch.cat([obs, action], 1)), target)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    actor_loss = -critic(torch.cat([obs, actor(obs)], 1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    with torch.no_grad():
        for online, target_net in ((actor, actor_target), (critic, critic_target)):
            for p, t in zip(online.parameters(), target_net.parameters()):
                t.mul_(0.995).add_(p, alpha=0.005)
