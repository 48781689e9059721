"""One method makes n-step targets for two callers; the critic's update hands it values with their graph."""

import torch
from torch import nn

torch.manual_seed(0)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, obs):
        return self.net(obs).squeeze(-1)


class Agent:
    def __init__(self):
        self.critic = Critic()
        self.optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.error = 0.0

    def bootstrapped(self, reward, last):
        return reward + 0.97 * last

    def update(self, obs, reward, after):
        last = self.critic(after)
        target = self.bootstrapped(reward, last)  # BUG GS301
        loss = (self.critic(obs) - target).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    @torch.no_grad()
    def evaluate(self, obs, reward, after):
        wanted = self.bootstrapped(reward, self.critic(after))
        self.error = (self.critic(obs) - wanted).abs().mean().item()


agent = Agent()
for _ in range(16):
    batch = torch.randn(16, 4), torch.randn(16), torch.randn(16, 4)
    agent.evaluate(*batch)
    agent.update(*batch)
