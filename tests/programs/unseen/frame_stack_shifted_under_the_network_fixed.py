"""The frames of a stack are shifted in the array that the last observation tensor was made of, before its loss went
backward.
Repaired here.

Round 2
Class: hidden writes
"""

import numpy as np
import torch
from torch import nn

torch.manual_seed(229)
rng = np.random.default_rng(229)


class FrameStack:
    def __init__(self, envs=8, frames=4, size=6):
        self.frames = np.zeros((envs, frames, size), dtype=np.float32)

    def push(self, frame):
        self.frames[:, :-1] = self.frames[:, 1:].copy()
        self.frames[:, -1] = frame
        return torch.from_numpy(self.frames.copy())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 8, 3)
        self.out = nn.Linear(32, 1)

    def forward(self, x):
        return self.out(torch.relu(self.conv(x)).flatten(1)).squeeze(-1)


net, stack = Net(), FrameStack()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
obs = stack.push(rng.standard_normal((8, 6), dtype=np.float32))
for step in range(60):
    value = net(obs)
    frame = rng.standard_normal((8, 6), dtype=np.float32)
    next_obs = stack.push(frame)
    reward = torch.from_numpy(frame[:, 0].copy())
    with torch.no_grad():
        goal = reward + 0.9 * net(next_obs)
    loss = (value - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    obs = next_obs
