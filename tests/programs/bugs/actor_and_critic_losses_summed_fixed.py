"""Actor and critic loss are added and one optimizer steps both: the critic learns to please the actor."""

import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)


def q(obs, action):
    return critic(torch.cat([obs, action], -1))


for _ in range(12):
    obs, action, wanted = torch.randn(16, 3), torch.rand(16, 1), torch.randn(16, 1)
    critic_loss = nn.functional.mse_loss(q(obs, action), wanted)
    optimizer.zero_grad()
    critic_loss.backward()
    optimizer.step()
    actor_loss = -q(obs, actor(obs)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
