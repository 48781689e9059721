"""Categorical DQN with index_add_ into a fresh tensor under no_grad."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
ATOMS, A = 11, 2
z = torch.linspace(-2, 2, ATOMS)
delta = z[1] - z[0]
net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, A * ATOMS))
target = copy.deepcopy(net)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(12):
    obs, action, reward = torch.randn(16, 3), torch.randint(A, (16,)), torch.randn(16)
    with torch.no_grad():
        after = target(torch.randn(16, 3)).view(-1, A, ATOMS).softmax(-1)
        best = (after * z).sum(-1).argmax(1)
        b = ((reward[:, None] + 0.9 * z).clamp(-2, 2) + 2) / delta
        b = b.clamp(0, ATOMS - 1)  # rounding can lead beyond the last atom
        low, high = b.floor().long(), b.ceil().long()
        low[(high > 0) * (low == high)] -= 1
        high[(low < ATOMS - 1) * (low == high)] += 1
        offset = torch.arange(16)[:, None] * ATOMS
        m = torch.zeros(16, ATOMS)
        p = after[torch.arange(16), best]
        m.view(-1).index_add_(0, (low + offset).view(-1), (p * (high.float() - b)).view(-1))
        m.view(-1).index_add_(0, (high + offset).view(-1), (p * (b - low.float())).view(-1))
    log_p = net(obs).view(-1, A, ATOMS).log_softmax(-1)[torch.arange(16), action]
    loss = -(m * log_p).sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 0:
        target.load_state_dict(net.state_dict())
