"""Actor and critic share an encoder that belongs to the critic's optimizer; the actor's loss fills its gradient after
the critic's was cleared.

Round 3
Class: the line
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(317)


class PixelAgent:
    def __init__(self):
        self.encoder = nn.Sequential(nn.Linear(12, 24), nn.ReLU())
        self.actor = nn.Linear(24, 2)
        self.critic = nn.Sequential(nn.Linear(26, 24), nn.ReLU(), nn.Linear(24, 1))
        critic_params = [*self.encoder.parameters(), *self.critic.parameters()]
        self.critic_opt = torch.optim.Adam(critic_params, lr=1e-3)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)

    def q(self, features, action):
        return self.critic(torch.cat([features, action], -1)).squeeze(-1)

    def update(self, obs, action, returns):
        self.critic_opt.zero_grad()
        features = self.encoder(obs)
        mean = self.actor(features)  # BUG GS304
        actor_loss = -self.q(features.detach(), Normal(mean, 0.2).rsample()).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward(
            inputs=[*self.actor.parameters(), *self.encoder.parameters()], retain_graph=True
        )  # BUG GS304
        self.actor_opt.step()
        critic_loss = (self.q(self.encoder(obs), action) - returns).pow(2).mean()
        critic_loss.backward()
        self.critic_opt.step()


agent = PixelAgent()
for step in range(60):
    obs, action = torch.randn(32, 12), torch.randn(32, 2)
    agent.update(obs, action, -(action - obs[:, :2]).pow(2).sum(-1))
