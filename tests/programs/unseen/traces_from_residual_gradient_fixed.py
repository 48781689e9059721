"""TD(lambda) with eligibility traces and no optimizer: the hand-made update differentiates the bootstrap
target together with the value.
Repaired here.

Class: gradients by hand
"""

import torch
from torch import nn

torch.manual_seed(12)
GAMMA, LR = 0.95, 0.05


class Cliff:
    """A walk on ten cells that drifts to the right and ends there."""

    def __init__(self, walkers=16):
        self.place = torch.randint(0, 9, (walkers,))

    def observe(self):
        return torch.eye(10)[self.place]

    def step(self):
        before = self.observe()
        move = torch.where(torch.rand(len(self.place)) < 0.7, 1, -1)
        self.place = (self.place + move).clamp(0, 9)
        done = self.place == 9
        after = self.observe()
        self.place = torch.where(done, torch.zeros_like(self.place), self.place)
        return before, done.float(), after, done.float()


value = nn.Sequential(nn.Linear(10, 24), nn.Tanh(), nn.Linear(24, 1))
parameters = list(value.parameters())
momentum = [torch.zeros_like(p) for p in parameters]
env = Cliff()
for step in range(250):
    before, reward, after, done = env.step()
    bootstrap = value(after).squeeze(-1)
    target = (reward + GAMMA * (1 - done) * bootstrap).detach()
    error = 0.5 * (target - value(before).squeeze(-1)).pow(2).mean()
    gradients = torch.autograd.grad(error, parameters)
    with torch.no_grad():
        for p, m, g in zip(parameters, momentum, gradients):
            m.mul_(0.9).add_(g)
            p.sub_(LR * m)
print(value(torch.eye(10)).squeeze(-1).detach().numpy().round(2))
