"""The best recurrent agent so far is copied, with the hidden state of its last update still attached.

Round 2
Class: forward errors
"""

import copy

import torch
from torch import nn

torch.manual_seed(203)


class RecurrentQ(nn.Module):
    def __init__(self, obs_dim=4, hidden=24, actions=3):
        super().__init__()
        self.hidden = hidden
        self.cell = nn.GRUCell(obs_dim, hidden)
        self.q = nn.Linear(hidden, actions)
        self.state = None

    def reset(self, batch):
        self.state = torch.zeros(batch, self.hidden)

    def forward(self, obs):
        self.state = self.cell(obs, self.state)  # BUG GS105
        return self.q(self.state)


def unroll(net, sequence):
    net.reset(sequence.shape[1])
    return torch.stack([net(obs) for obs in sequence])


net = RecurrentQ()
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3)
best, best_loss = None, float("inf")
for episode in range(25):
    sequence = torch.randn(6, 16, 4)
    reward = sequence.cumsum(0)[..., :3]
    loss = (unroll(net, sequence) - reward).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss.item() < best_loss:
        best_loss = loss.item()
        best = copy.deepcopy(net)  # BUG GS105
