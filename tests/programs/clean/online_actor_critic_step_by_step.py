"""One-step actor-critic, one transition at a time, with two optimizers and an entropy bonus."""

import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
obs, discount = torch.randn(1, 3), 1.0
for _ in range(20):
    dist = torch.distributions.Categorical(logits=actor(obs))
    action = dist.sample()
    after, reward = 0.9 * obs + 0.1 * torch.randn(1, 3), torch.tensor([[1.0 - action.item()]])
    delta = reward + 0.99 * critic(after).detach() - critic(obs)
    critic_optimizer.zero_grad()
    delta.pow(2).mean().backward()
    critic_optimizer.step()
    loss = -(dist.log_prob(action) * delta.detach().squeeze(-1) * discount + 0.01 * dist.entropy()).mean()
    actor_optimizer.zero_grad()
    loss.backward()
    actor_optimizer.step()
    obs, discount = after, discount * 0.99
