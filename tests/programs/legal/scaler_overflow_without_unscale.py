"""The same without an explicit `unscale_`, with huge first scale, over two optimizers."""

import torch
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(4, 2), nn.Linear(4, 1)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-2)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**126, growth_interval=10)
for _ in range(40):
    x = torch.randn(16, 4)
    value = critic(x).squeeze(1)
    critic_loss = (value - x[:, 0]).pow(2).mean()
    dist = torch.distributions.Categorical(logits=actor(x))
    a = dist.sample()
    advantage = (x[:, 0] * (a * 2 - 1) - value).detach()
    actor_loss = -(dist.log_prob(a) * advantage).mean()
    actor_opt.zero_grad()
    critic_opt.zero_grad()
    scaler.scale(critic_loss).backward()
    scaler.scale(actor_loss).backward()
    scaler.step(critic_opt)
    scaler.step(actor_opt)
    scaler.update()
print(scaler.get_scale())
