"""PPO in a class: the minus was drawn into the minimum, which then takes the wrong one of the two (after
safe-grid-agents PR 28)."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)


class PPO:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
        self.critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam([*self.actor.parameters(), *self.critic.parameters()], lr=1e-3)

    @torch.no_grad()
    def rollout(self):
        obs, dist = torch.randn(64, 4), None
        dist = Categorical(logits=self.actor(obs))
        action = dist.sample()
        value = self.critic(obs).squeeze(-1)
        returns = torch.randn(64) + 0.9 * value
        return obs, action, dist.log_prob(action), returns - value, returns

    def loss(self, obs, action, old, advantage, returns):
        dist = Categorical(logits=self.actor(obs))
        ratio = torch.exp(dist.log_prob(action) - old)
        clipped = ratio.clamp(0.8, 1.2)
        policy = torch.min(-ratio * advantage, -clipped * advantage).mean()  # BUG GS801
        value = (self.critic(obs).squeeze(-1) - returns).pow(2).mean()
        return policy + 0.5 * value - 0.01 * dist.entropy().mean()

    def update(self):
        batch = self.rollout()
        for _ in range(3):
            for rows in torch.randperm(64).split(32):
                loss = self.loss(*[part[rows] for part in batch])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()


agent = PPO()
for _ in range(4):
    agent.update()
