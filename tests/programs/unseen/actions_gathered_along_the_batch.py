"""The values of the taken actions are gathered along the first axis.

Round 7
Class: axes
"""

import torch
from torch import nn

torch.manual_seed(705)


class Agent:
    def __init__(self):
        self.q = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 5))
        self.optimizer = torch.optim.RMSprop(self.q.parameters(), lr=1e-3)

    def learn(self, obs, action, returns):
        values = self.q(obs)
        taken = torch.gather(values, 0, action[:, None]).squeeze(1)  # BUG GS604
        loss = nn.functional.mse_loss(taken, returns)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


agent = Agent()
for _ in range(40):
    obs, action = torch.randn(32, 4), torch.randint(5, (32,))
    agent.learn(obs, action, obs[:, 0] * (action == 2))
