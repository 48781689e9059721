"""Dreamer-like: the model learns from data, the actor and critic from imagined latents."""

import torch
from torch import nn

torch.manual_seed(0)
encoder, dynamics, head = nn.Linear(6, 8), nn.Linear(10, 8), nn.Linear(8, 1)
actor = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
model = [*encoder.parameters(), *dynamics.parameters(), *head.parameters()]
model_opt = torch.optim.Adam(model, lr=1e-3)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(50):
    obs, action, obs2 = torch.randn(16, 6), torch.randn(16, 2), torch.randn(16, 6)
    z = torch.tanh(encoder(obs))
    predicted = torch.tanh(dynamics(torch.cat([z, action], 1)))
    model_loss = (predicted - torch.tanh(encoder(obs2)).detach()).pow(2).mean()
    model_loss = model_loss + (head(predicted).squeeze(1) - action.sum(1)).pow(2).mean()
    model_opt.zero_grad()
    model_loss.backward()
    model_opt.step()
    state, rewards, states = torch.tanh(encoder(obs)).detach(), [], []
    for _ in range(4):
        states.append(state)
        state = torch.tanh(dynamics(torch.cat([state, actor(state)], 1)))
        rewards.append(head(state).squeeze(1))
    value = critic(state).squeeze(1)
    for r in reversed(rewards):
        value = r + 0.95 * value
    actor_loss = -value.mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    critic_loss = (critic(states[0]).squeeze(1) - value.detach()).pow(2).mean()
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
print(float(actor_loss))
