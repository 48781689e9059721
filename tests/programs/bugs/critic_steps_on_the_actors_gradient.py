"""DDPG: the critic's gradient is cleared after its step, and the actor's backward fills it again."""

import torch
from torch import nn

torch.manual_seed(0)


class DDPG:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-4)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def q(self, obs, action):
        return self.critic(torch.cat([obs, action], -1))

    def update_critic(self, obs, action, wanted):
        nn.functional.mse_loss(self.q(obs, action), wanted).backward()
        self.critic_optimizer.step()
        self.critic_optimizer.zero_grad()

    def update_actor(self, obs):
        (-self.q(obs, self.actor(obs)).mean()).backward()  # BUG GS304
        self.actor_optimizer.step()
        self.actor_optimizer.zero_grad()


agent = DDPG()
for _ in range(12):
    obs, action, wanted = torch.randn(16, 3), torch.randn(16, 1), torch.randn(16, 1)
    agent.update_critic(obs, action, wanted)
    agent.update_actor(obs)
