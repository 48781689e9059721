"""After pretraining the head is replaced for the second task; the optimizer still holds the first one.
Repaired here.

Round 2
Class: late and rare
"""

import torch
from torch import nn

torch.manual_seed(222)


class Net(nn.Module):
    def __init__(self, actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.ReLU())
        self.head = nn.Linear(32, actions)

    def forward(self, x):
        return self.head(self.body(x))


class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)

    def fit(self, actions, updates):
        for _ in range(updates):
            obs = torch.randn(32, 6)
            label = obs[:, :actions].argmax(1)
            loss = nn.functional.cross_entropy(self.net(obs), label)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


net = Net(4)
trainer = Trainer(net)
trainer.fit(4, 90)
net.head = nn.Linear(32, 3)
trainer.optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
trainer.fit(3, 90)
