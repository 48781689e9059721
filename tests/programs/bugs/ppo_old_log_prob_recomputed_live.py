"""PPO: the "old" log-probability is computed inside the epoch, with the same weights and a graph."""

import torch
from torch import nn

torch.manual_seed(0)


class PPO:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=3e-4, foreach=True)

    def log_prob(self, obs, action):
        return torch.distributions.Categorical(logits=self.net(obs)).log_prob(action)

    def update(self, obs, action, advantage):
        for _ in range(3):
            old = self.log_prob(obs, action)  # BUG GS209
            new = self.log_prob(obs, action)
            ratio = torch.exp(new - old)
            clipped = torch.clamp(ratio, 0.8, 1.2)
            loss = -torch.min(ratio * advantage, clipped * advantage).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


agent = PPO()
for _ in range(5):
    agent.update(torch.randn(32, 4), torch.randint(3, (32,)), torch.randn(32))
