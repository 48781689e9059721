# finds: GS401
import torch
from torch import nn


class Agent:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
        self.optimizer = torch.optim.SGD(self.policy.parameters(), lr=0.05)

    def update(self, states, returns):
        dist = torch.distributions.Categorical(logits=self.policy(states))
        loss = -(dist.log_prob(dist.sample()) * returns).mean() - 0.01 * dist.entropy().mean()
        self.optimizer.zero_grad()
        #!
        loss.backward()
        self.optimizer.step()  # BUG


agent = Agent()
for _ in range(30):
    agent.update(torch.randn(8, 3), torch.randn(8))
