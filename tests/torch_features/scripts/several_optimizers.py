# finds: GS304
import torch
from torch import nn

actor = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)
for _ in range(30):
    s, a, y = torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 1)
    actor_loss = -critic(torch.cat([s, actor(s)], 1)).mean()  # BUG
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    critic_loss = (critic(torch.cat([s, a], 1)) - y).pow(2).mean()
    critic_opt.zero_grad()
    #!
    critic_loss.backward()
    critic_opt.step()
    #! critic_opt.step()
    #! critic_opt.zero_grad()
