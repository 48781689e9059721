"""As clones, copied back in place."""

import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)
for _ in range(40):
    s, a = torch.randn(16, 4), torch.randn(16, 2)
    r = s.sum(1) - a.pow(2).sum(1)
    critic_opt.zero_grad()
    critic_loss = (critic(torch.cat([s, a], 1)).squeeze(1) - r).pow(2).mean()
    critic_loss.backward()
    aside = [p.grad.clone() for p in critic.parameters()]
    actor_opt.zero_grad()
    actor_loss = -critic(torch.cat([s, actor(s)], 1)).mean()
    actor_loss.backward()
    for p, g in zip(critic.parameters(), aside):
        p.grad.copy_(g)
    critic_opt.step()
    actor_opt.step()
print(float(critic_loss))
