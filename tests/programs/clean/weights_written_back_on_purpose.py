"""Weights that flow from a slow copy to the fast ones by right: lookahead, an average that is played with, a reset
to the copy when a probe has gone wrong. And targets that follow quickly, or are mixed the other way round."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target, slow = copy.deepcopy(q), copy.deepcopy(q)
optimizer = torch.optim.SGD(q.parameters(), lr=1e-2)


def td_loss(network, old):
    obs, action, reward = torch.randn(16, 4), torch.randint(2, (16, 1)), torch.randn(16, 1)
    with torch.no_grad():
        wanted = reward + 0.9 * old(torch.randn(16, 4)).amax(1, keepdim=True)
    return (network(obs).gather(1, action) - wanted).pow(2).mean()


for step in range(1, 25):
    loss = td_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    keep = 0.995
    with torch.no_grad():
        for p, t in zip(q.parameters(), target.parameters()):
            t.copy_(keep * t + (1 - keep) * p)
        if step % 5 == 0:  # lookahead: the slow weights go half the way, the fast ones start from there
            for p, s in zip(q.parameters(), slow.parameters()):
                s.add_(p - s, alpha=0.5)
                p.copy_(s)

for step in range(1, 25):  # the target is half the online network: quick, and no exchange of weights
    loss = td_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p, t in zip(q.parameters(), target.parameters()):
            t.mul_(0.5).add_(p, alpha=0.5)

for step in range(1, 25):  # nearly a copy, but only now and then
    loss = td_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 8 == 0:
        with torch.no_grad():
            for p, t in zip(q.parameters(), target.parameters()):
                t.lerp_(p, 0.95)
