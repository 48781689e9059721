"""DQN in one file: the small weight of the soft update went to the target, which is a copy after every step."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
tau = 0.005
for _ in range(16):
    obs, action, reward = torch.randn(32, 4), torch.randint(2, (32, 1)), torch.randn(32, 1)
    with torch.no_grad():
        wanted = reward + 0.99 * target(torch.randn(32, 4)).amax(1, keepdim=True)
    loss = nn.functional.smooth_l1_loss(q(obs).gather(1, action), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for p, t in zip(q.parameters(), target.parameters()):
        t.data.copy_(tau * p.data + (1 - tau) * t.data)
