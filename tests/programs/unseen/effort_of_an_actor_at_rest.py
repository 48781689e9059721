"""The actor starts with a last layer of zeros, and its effort is a square root of the sum of squares.

Round 8
Class: magnitude
"""

import torch
from torch import nn

torch.manual_seed(819)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(6, 32)
        self.out = nn.Linear(32, 3)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, obs):
        return self.out(torch.tanh(self.hidden(obs)))


actor = Actor()
critic = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
for step in range(20):
    obs, noise = torch.randn(32, 6), torch.randn(32, 3)
    reward = -(noise - obs[:, :3]).pow(2).sum(-1)
    critic_loss = (critic(torch.cat([obs, noise], -1)).squeeze(-1) - reward).pow(2).mean()
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    action = actor(obs)
    effort = action.pow(2).sum(-1).sqrt()  # BUG GS503
    actor_loss = (0.01 * effort - critic(torch.cat([obs, action], -1)).squeeze(-1)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
