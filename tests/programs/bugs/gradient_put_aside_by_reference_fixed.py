"""The critic's gradient is put aside while the actor's loss runs backward, but only its reference is kept,
so the actor's contribution lands in it.
Repaired here.
"""

import torch
from torch import nn

torch.manual_seed(19)
actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=2e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=2e-3)


def q(obs, action):
    return critic(torch.cat([obs, action], -1))


def put_aside(module):
    return {name: p.grad.clone() for name, p in module.named_parameters()}


def put_back(module, gradients):
    for name, p in module.named_parameters():
        p.grad = gradients[name]


for update in range(40):
    obs = torch.randn(32, 3)
    with torch.no_grad():
        action = (actor(obs) + 0.2 * torch.randn(32, 1)).clamp(-1, 1)
    reward = -(action - obs[:, :1].clamp(-1, 1)).pow(2)

    critic_opt.zero_grad()
    (q(obs, action) - reward).pow(2).mean().backward()
    kept = put_aside(critic)

    actor_opt.zero_grad()
    (-q(obs, actor(obs)).mean()).backward()
    actor_opt.step()

    put_back(critic, kept)
    critic_opt.step()
print("reward", reward.mean().item())
