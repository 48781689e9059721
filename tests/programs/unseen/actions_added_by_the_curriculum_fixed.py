"""The curriculum opens more actions after a while: the output layer is made anew, larger, with the old rows copied.
Repaired here.

Round 3
Class: late and rare
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(309)


class Agent:
    def __init__(self, actions):
        self.body = nn.Sequential(nn.Linear(6, 32), nn.Tanh())
        self.out = nn.Linear(32, actions)
        self.optimizer = self.make_optimizer()

    def make_optimizer(self):
        return torch.optim.Adam([*self.body.parameters(), *self.out.parameters()], lr=3e-3)

    def open_actions(self, more):
        old = self.out
        self.out = nn.Linear(32, old.out_features + more)
        with torch.no_grad():
            self.out.weight[: old.out_features] = old.weight
            self.out.bias[: old.out_features] = old.bias
        self.optimizer = self.make_optimizer()

    def update(self):
        obs = torch.randn(64, 6)
        dist = Categorical(logits=self.out(self.body(obs)))
        action = dist.sample()
        reward = (action == obs[:, : self.out.out_features].argmax(1)).float()
        loss = -(dist.log_prob(action) * (reward - reward.mean())).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


agent = Agent(2)
for update in range(240):
    if update == 120:
        agent.open_actions(2)
    agent.update()
