"""Two optimizers behind one scaler: each is unscaled before its clip."""

import torch
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(4, 2), nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=512.0)
for _ in range(12):
    obs, action, returns = torch.randn(16, 4), torch.randint(2, (16,)), torch.randn(16)
    value = critic(obs).squeeze(-1)
    critic_loss = (value - returns).pow(2).mean()
    log_prob = actor(obs).log_softmax(-1)[torch.arange(16), action]
    actor_loss = -(log_prob * (returns - value.detach())).mean()
    actor_optimizer.zero_grad()
    critic_optimizer.zero_grad()
    scaler.scale(actor_loss).backward()
    scaler.scale(critic_loss).backward()
    scaler.unscale_(actor_optimizer)
    nn.utils.clip_grad_norm_(actor.parameters(), 1.0)
    scaler.unscale_(critic_optimizer)
    nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
    scaler.step(actor_optimizer)
    scaler.step(critic_optimizer)
    scaler.update()
