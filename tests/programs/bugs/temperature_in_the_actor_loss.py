"""SAC: the temperature enters the actor's loss with its gradient, and both optimizers then step."""

import torch
from torch import nn

torch.manual_seed(0)
mean, log_std = nn.Linear(4, 2), nn.Parameter(torch.zeros(2))
critic = nn.Linear(6, 1).requires_grad_(False)
log_alpha = nn.Parameter(torch.zeros(()))
actor_optimizer = torch.optim.Adam([*mean.parameters(), log_std], lr=1e-3)
alpha_optimizer = torch.optim.Adam([log_alpha], lr=1e-3)
for _ in range(12):
    obs = torch.randn(16, 4)
    dist = torch.distributions.Normal(mean(obs), log_std.exp())
    action = dist.rsample()
    log_prob = dist.log_prob(action).sum(-1)
    alpha = log_alpha.exp()  # BUG GS304
    actor_loss = (alpha * log_prob - critic(torch.cat([obs, action], -1)).squeeze(-1)).mean()
    alpha_loss = -(log_alpha * (log_prob.detach() - 2.0)).mean()
    actor_optimizer.zero_grad()
    alpha_optimizer.zero_grad()
    actor_loss.backward()
    alpha_loss.backward()
    actor_optimizer.step()
    alpha_optimizer.step()
