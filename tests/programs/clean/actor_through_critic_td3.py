"""TD3: the actor's loss flows through the critic, whose gradient is cleared before its own step; delayed."""

import copy

import torch
from torch import nn

torch.manual_seed(0)


class Twin(nn.Module):
    def __init__(self):
        super().__init__()
        self.q1 = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
        self.q2 = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, obs, action):
        x = torch.cat([obs, action], 1)
        return self.q1(x), self.q2(x)


actor = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
critic = Twin()
actor_target, critic_target = copy.deepcopy(actor), copy.deepcopy(critic)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=3e-4)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=3e-4)
for step in range(24):
    obs, action, next_obs = torch.randn(32, 4), torch.rand(32, 1) * 2 - 1, torch.randn(32, 4)
    reward, not_done = torch.randn(32, 1), torch.ones(32, 1)
    with torch.no_grad():
        noise = (torch.randn_like(action) * 0.2).clamp(-0.5, 0.5)
        next_action = (actor_target(next_obs) + noise).clamp(-1, 1)
        q1, q2 = critic_target(next_obs, next_action)
        wanted = reward + not_done * 0.99 * torch.min(q1, q2)
    q1, q2 = critic(obs, action)
    critic_loss = nn.functional.mse_loss(q1, wanted) + nn.functional.mse_loss(q2, wanted)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    if step % 2 == 1:
        actor_loss = -critic.q1(torch.cat([obs, actor(obs)], 1)).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
        for net, lagged in ((critic, critic_target), (actor, actor_target)):
            for new, old in zip(net.parameters(), lagged.parameters()):
                old.data.copy_(0.005 * new.data + 0.995 * old.data)
