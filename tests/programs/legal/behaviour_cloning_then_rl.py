"""A policy is cloned from demonstrations first, then trained by DQN-like updates with a target."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
target = copy.deepcopy(q)
clone = torch.optim.Adam(q.parameters(), lr=1e-2)
demos = torch.randn(200, 4)
labels = demos[:, :3].argmax(1)
for epoch in range(20):
    index = torch.randint(0, 200, (32,))
    loss = nn.functional.cross_entropy(q(demos[index]), labels[index])
    clone.zero_grad()
    loss.backward()
    clone.step()
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
for step in range(60):
    s, s2 = torch.randn(32, 4), torch.randn(32, 4)
    a = torch.randint(0, 3, (32, 1))
    r = (a.squeeze(1) == s[:, :3].argmax(1)).float()
    with torch.no_grad():
        y = r + 0.9 * target(s2).max(1).values
    loss = nn.functional.mse_loss(q(s).gather(1, a).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 19:
        target.load_state_dict(q.state_dict())
print(float(loss))
