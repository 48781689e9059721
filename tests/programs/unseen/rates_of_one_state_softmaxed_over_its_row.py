"""A network answers for one state at a time with a row [1, 4]; its softmax runs along the axis of length one, so
every action has the probability one and the agent acts at random.

Round 22
Class: axes
"""

import torch
import torch.nn.functional as F
from torch import nn


class Tunnel:
    """Four doors, one of which is lit; the lit door pays. A walk has six rooms."""

    def __init__(self):
        self.room = 0

    def enter(self):
        self.room = 0
        return self.look()

    def look(self):
        self.lit = int(torch.randint(4, ()))
        return F.one_hot(torch.tensor(self.lit), 4).float()

    def open(self, door):
        paid = 1.0 if door == self.lit else 0.0
        self.room += 1
        return self.look(), paid, self.room == 6


class RateNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.inputs = nn.Linear(4, 32)
        self.outputs = nn.Linear(32, 4)

    def forward(self, picture):
        rates = torch.relu(self.inputs(picture.view(1, -1)))
        return self.outputs(rates)


def select_door(network, picture):
    rates = network(picture)
    probabilities = torch.softmax(rates, dim=0)  # BUG GS604
    doors = torch.distributions.Categorical(probs=probabilities)
    door = doors.sample()
    return door.item(), doors.log_prob(door).squeeze()


torch.manual_seed(2212)
tunnel, network = Tunnel(), RateNetwork()
optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
average = 0.0
for walk in range(50):
    picture, over = tunnel.enter(), False
    log_probs, rewards = [], []
    while not over:
        door, log_prob = select_door(network, picture)
        picture, paid, over = tunnel.open(door)
        log_probs.append(log_prob)
        rewards.append(paid)
    weights = torch.tensor(rewards) - average  # rooms do not depend on each other
    average = 0.9 * average + 0.1 * sum(rewards) / len(rewards)
    loss = -(torch.stack(log_probs) * weights).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if walk % 10 == 0:
        print(walk, sum(rewards))
