"""C51: the projected next distribution still carries the gradient of the network."""

import torch
from torch import nn

torch.manual_seed(0)
ATOMS, ACTIONS, LOW, HIGH = 11, 2, -2.0, 2.0
support = torch.linspace(LOW, HIGH, ATOMS)
width = (HIGH - LOW) / (ATOMS - 1)
net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, ACTIONS * ATOMS))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)


def logits(obs):
    return net(obs).view(-1, ACTIONS, ATOMS)


def project(probabilities, reward, gamma=0.9):
    position = ((reward[:, None] + gamma * support).clamp(LOW, HIGH) - LOW) / width
    low, high = position.floor().long(), position.ceil().long()
    out = torch.zeros_like(probabilities)
    out = out.scatter_add(1, low, probabilities * (high.float() - position + (low == high)))
    return out.scatter_add(1, high, probabilities * (position - low.float()))


for _ in range(10):
    obs, action, reward = torch.randn(16, 3), torch.randint(ACTIONS, (16,)), torch.randn(16)
    after = logits(torch.randn(16, 3)).softmax(-1).detach()
    best = (after * support).sum(-1).argmax(-1)
    wanted = project(after[torch.arange(16), best], reward)
    log_now = logits(obs).log_softmax(-1)[torch.arange(16), action]
    loss = -(wanted * log_now).sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
