"""A stack of frames is a tensor; the simulator writes the next frame through its array before the loss runs backward.

Round 11
Class: hidden writes
"""

import numpy as np
import torch
from torch import nn

torch.manual_seed(1115)
rng = np.random.default_rng(1115)


class FrameStack:
    def __init__(self, copies=8, frames=4):
        self.tensor = torch.zeros(copies, frames, 6)
        self.array = self.tensor.numpy()  # BUG GS104

    def push(self):
        self.array[:, :-1] = self.array[:, 1:]  # BUG GS104
        self.array[:, -1] = rng.normal(size=(8, 6))  # BUG GS104

    def view(self):
        return self.tensor.flatten(1)  # BUG GS104


net = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
stack = FrameStack()
for step in range(50):
    value = net(stack.view()).squeeze(-1)
    before = stack.tensor[:, -1, 0].clone()
    stack.push()  # BUG GS104
    loss = (value - before).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
