"""One gradient, tried with several step lengths: from the saved weights, and by taking the trial back."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def miss(obs):
    return (net(obs).squeeze(-1) - obs.sum(-1)).pow(2).mean()


for update in range(12):
    obs = torch.randn(16, 4)
    net.zero_grad()
    loss = miss(obs)
    loss.backward()
    saved = [p.detach().clone() for p in net.parameters()]
    with torch.no_grad():
        for power in range(5):
            for p, start in zip(net.parameters(), saved, strict=True):
                p.copy_(start - 0.5**power * p.grad)
            if miss(obs) < 0.9 * loss:
                break

for update in range(12):
    obs, length = torch.randn(16, 4), 1.0
    net.zero_grad()
    loss = miss(obs)
    loss.backward()
    with torch.no_grad():
        for _ in range(5):
            for p in net.parameters():
                p -= length * p.grad
            if miss(obs) < 0.9 * loss:
                break
            for p in net.parameters():
                p += length * p.grad
            length /= 2
