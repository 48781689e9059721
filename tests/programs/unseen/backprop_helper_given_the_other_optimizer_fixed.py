"""A helper clears, runs backward and steps; for the critic's loss it is called with the actor's optimizer.
Repaired here.

Class: the line
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(317)


def backprop(loss, optimizer):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=3e-3)


def losses(obs):
    dist = Categorical(logits=actor(obs))
    action = dist.sample()
    reward = 2.0 * (action == obs[:, :3].argmax(-1)).float()
    advantage = reward - critic(obs).squeeze(-1)
    return -(dist.log_prob(action) * advantage.detach()).mean(), advantage.pow(2).mean()


for step in range(150):
    actor_loss, critic_loss = losses(torch.randn(32, 4))
    backprop(actor_loss, actor_opt)
    backprop(critic_loss, critic_opt)
print("critic loss", critic_loss.item())
