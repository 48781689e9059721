"""n-step A2C in a class: the bootstrap value at the end of the segment keeps its graph."""

import torch
from torch import nn

torch.manual_seed(0)


class Learner:
    def __init__(self, gamma=0.95):
        self.gamma = gamma
        self.critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.optimizer = torch.optim.RMSprop(self.critic.parameters(), lr=7e-4)

    def bootstrap(self, next_obs):
        with torch.no_grad():
            return self.critic(next_obs).squeeze(-1)

    def targets(self, rewards, dones, next_obs):
        running = self.bootstrap(next_obs)
        out = torch.zeros_like(rewards)
        for t in range(len(rewards) - 1, -1, -1):
            running = rewards[t] + self.gamma * (1 - dones[t]) * running
            out[t] = running
        return out

    def update(self, obs, rewards, dones, next_obs):
        values = self.critic(obs).squeeze(-1)
        loss = nn.functional.mse_loss(values, self.targets(rewards, dones, next_obs))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


learner = Learner()
for _ in range(12):
    dones = (torch.rand(5, 8) < 0.1).float()
    learner.update(torch.randn(5, 8, 4), torch.randn(5, 8), dones, torch.randn(8, 4))
