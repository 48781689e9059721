"""QR-DQN: [B, 1, N] against [B, N, 1] on purpose; double Q-learning with a target network."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
N, A = 8, 3
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, N * A))
target = copy.deepcopy(net)
optimizer = torch.optim.Adam(net.parameters(), lr=5e-4)
taus = ((torch.arange(N) + 0.5) / N).view(1, N, 1)
for step in range(12):
    obs, action, reward = torch.randn(16, 4), torch.randint(A, (16,)), torch.randn(16)
    next_obs, done = torch.randn(16, 4), (torch.rand(16) < 0.1).float()
    with torch.no_grad():
        best = net(next_obs).view(-1, A, N).mean(-1).argmax(-1)
        after = target(next_obs).view(-1, A, N)[torch.arange(16), best]
        wanted = reward[:, None] + 0.99 * (1 - done[:, None]) * after
    now = net(obs).view(-1, A, N)[torch.arange(16), action]
    error = wanted.unsqueeze(1) - now.unsqueeze(2)
    huber = nn.functional.smooth_l1_loss(
        now.unsqueeze(2).expand_as(error), wanted.unsqueeze(1).expand_as(error), reduction="none"
    )
    loss = ((taus - (error.detach() < 0).float()).abs() * huber).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 3:
        target.load_state_dict(net.state_dict())
