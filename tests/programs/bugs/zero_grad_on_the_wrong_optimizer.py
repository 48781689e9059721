"""Copy and paste: the critic's block clears the actor's gradients."""

import torch
from torch import nn

torch.manual_seed(0)


class Agent:
    def __init__(self):
        self.pi = nn.Linear(4, 2)
        self.v = nn.Linear(4, 1)
        self.pi_optimizer = torch.optim.Adam(self.pi.parameters(), lr=1e-3)
        self.v_optimizer = torch.optim.Adam(self.v.parameters(), lr=1e-3)

    def update(self, obs, action, returns):
        advantage = returns - self.v(obs).squeeze(-1).detach()
        pi_loss = -(torch.log_softmax(self.pi(obs), -1)[torch.arange(16), action] * advantage).mean()
        self.pi_optimizer.zero_grad()
        pi_loss.backward()
        self.pi_optimizer.step()
        v_loss = (self.v(obs).squeeze(-1) - returns).pow(2).mean()
        self.pi_optimizer.zero_grad()
        v_loss.backward()
        self.v_optimizer.step()  # BUG GS401


agent = Agent()
for _ in range(12):
    agent.update(torch.randn(16, 4), torch.randint(2, (16,)), torch.randn(16))
