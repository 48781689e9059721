"""Synchronous workers: the learner averages the workers' gradients, which nobody clears between the rounds.

Class: gradients by hand
"""

import copy

import torch
from torch import nn

torch.manual_seed(23)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, obs):
        return self.net(obs).squeeze(-1)


TRUE = torch.randn(5)


def worker_pass(network):
    obs = torch.randn(16, 5)
    returns = torch.tanh(obs @ TRUE)
    loss = (network(obs) - returns).pow(2).mean()
    loss.backward()
    return loss.item()


def average_into(learner, workers):
    for parameter, *theirs in zip(learner.parameters(), *(w.parameters() for w in workers)):
        parameter.grad = torch.stack([p.grad for p in theirs]).mean(0)


learner = Regressor()
workers = [copy.deepcopy(learner) for _ in range(4)]
optimizer = torch.optim.SGD(learner.parameters(), lr=0.1)
for round_ in range(60):
    for worker in workers:
        worker.load_state_dict(learner.state_dict())
    losses = [worker_pass(worker) for worker in workers]
    average_into(learner, workers)
    optimizer.step()  # BUG GS401
print("loss", sum(losses) / 4)
