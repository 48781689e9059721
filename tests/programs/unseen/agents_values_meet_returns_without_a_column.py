"""Eight agents for eight steps: values keep their last axis of one, returns do not.

Round 8
Class: axes
"""

import torch
from torch import nn

torch.manual_seed(806)
STEPS = AGENTS = 8


class CentralCritic(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(size, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, state):
        return self.layers(state)


def returns_of(rewards, gamma=0.9):
    total, found = torch.zeros(AGENTS), []
    for reward in reversed(list(rewards)):
        total = reward + gamma * total
        found.append(total)
    return torch.stack(found[::-1])


critic = CentralCritic(7)
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(50):
    states = torch.randn(STEPS, AGENTS, 7)
    returns = returns_of(states[..., 0])
    values = critic(states)
    loss = 0.5 * (returns - values).pow(2).mean()  # BUG GS601
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
