"""The clipping happens when there is no gradient to clip."""

import torch
from torch import nn

torch.manual_seed(0)


class Learner:
    def __init__(self):
        self.net = nn.LSTM(3, 8)
        self.head = nn.Linear(8, 1)
        self.parameters = [*self.net.parameters(), *self.head.parameters()]
        self.optimizer = torch.optim.Adam(self.parameters, lr=1e-3)

    def learn(self, sequence, returns):
        values = self.head(self.net(sequence)[0]).squeeze(-1)
        loss = (values - returns).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, 0.5)
        self.optimizer.step()


learner = Learner()
for _ in range(12):
    learner.learn(torch.randn(5, 4, 3), torch.randn(5, 4))
