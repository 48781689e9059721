"""TD3: the critic clears its gradients at every update, the delayed actor never does.
Repaired here.

Round 9
Class: late and rare
"""

import copy

import torch
from torch import nn

torch.manual_seed(911)
actor = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(7, 32), nn.ReLU(), nn.Linear(32, 1))
slow_actor, slow_critic = copy.deepcopy(actor), copy.deepcopy(critic)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(90):
    obs, action, after = torch.randn(32, 5), torch.rand(32, 2) * 2 - 1, torch.randn(32, 5)
    with torch.no_grad():
        noise = (0.2 * torch.randn(32, 2)).clamp(-0.5, 0.5)
        next_action = (slow_actor(after) + noise).clamp(-1, 1)
        goal = obs[:, :1] + 0.95 * slow_critic(torch.cat([after, next_action], -1))
    critic_opt.zero_grad()
    (critic(torch.cat([obs, action], -1)) - goal).pow(2).mean().backward()
    critic_opt.step()
    if update % 3 == 0:
        actor_opt.zero_grad()
        actor_loss = -critic(torch.cat([obs, actor(obs)], -1)).mean()
        actor_loss.backward()
        actor_opt.step()
        with torch.no_grad():
            for slow, fast in ((slow_actor, actor), (slow_critic, critic)):
                for s, p in zip(slow.parameters(), fast.parameters()):
                    s.lerp_(p, 0.05)
