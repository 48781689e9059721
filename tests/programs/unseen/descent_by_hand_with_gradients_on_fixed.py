"""The update is written without an optimizer, and without `no_grad`.
Repaired here.

Round 7
Class: gradients by hand
"""

import torch
from torch import nn

torch.manual_seed(703)


class TabularCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.values = nn.Parameter(torch.zeros(10))

    def learn(self, state, goal, lr):
        loss = (self.values[state] - goal).pow(2).mean()
        self.zero_grad()
        loss.backward()
        with torch.no_grad():
            self.values -= lr * self.values.grad


critic = TabularCritic()
for _ in range(30):
    state = torch.randint(10, (16,))
    critic.learn(state, state.float() / 10, 0.5)
