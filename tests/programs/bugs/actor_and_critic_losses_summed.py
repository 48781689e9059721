"""Actor and critic loss are added and one optimizer steps both: the critic learns to please the actor."""

import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)


def q(obs, action):
    return critic(torch.cat([obs, action], -1))


for _ in range(12):
    obs, action, wanted = torch.randn(16, 3), torch.rand(16, 1), torch.randn(16, 1)
    critic_loss = nn.functional.mse_loss(q(obs, action), wanted)
    actor_loss = -q(obs, actor(obs)).mean()  # BUG GS304
    loss = critic_loss + actor_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
