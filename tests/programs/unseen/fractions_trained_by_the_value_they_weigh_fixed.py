"""Fractions proposed by a network weigh quantiles; the weights are live in the value, so the value's loss trains them.

Round 13
Class: weights
"""

import torch
from torch import nn

torch.manual_seed(1311)
N, ACTIONS, BATCH = 8, 3, 20


class FQF(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 32), nn.ReLU())
        self.cosine = nn.Linear(16, 32)
        self.head = nn.Linear(32, ACTIONS)

    def quantiles(self, h, taus):
        steps = torch.arange(16) * torch.pi
        phi = torch.relu(self.cosine(torch.cos(taus[..., None] * steps)))
        return self.head(h[:, None] * phi).transpose(1, 2)


class Proposal(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(32, N)

    def forward(self, h):
        proba = self.net(h.detach()).softmax(-1)
        taus = proba.cumsum(-1)
        before = torch.cat([torch.zeros(len(h), 1), taus[:, :-1]], -1)
        return taus, before, ((taus + before) / 2).detach()


q_func, proposal = FQF(), Proposal()
q_optimizer = torch.optim.Adam([*q_func.parameters(), *proposal.parameters()], lr=1e-3)
target = FQF()
target.load_state_dict(q_func.state_dict())
for update in range(60):
    obs, next_obs = torch.randn(BATCH, 4), torch.randn(BATCH, 4)
    actions, reward = torch.randint(ACTIONS, (BATCH,)), torch.randn(BATCH) * 0.1
    h = q_func.encoder(obs)
    taus, taus_before, taus_hat = proposal(h)
    quantiles = q_func.quantiles(h, taus_hat)
    weight = (taus - taus_before)[:, None].detach()
    value = (weight * quantiles).sum(-1)[torch.arange(BATCH), actions]
    with torch.no_grad():
        ahead = target.encoder(next_obs)
        t, b, hat = proposal(ahead)
        next_value = ((t - b)[:, None] * target.quantiles(ahead, hat)).sum(-1).max(1).values
        y = reward + 0.95 * next_value
    value_loss = (value - y).pow(2).mean()

    with torch.no_grad():
        chosen = q_func.quantiles(h, taus[:, :-1])[torch.arange(BATCH), actions]
        middle = quantiles[torch.arange(BATCH), actions]
        slope = 2 * chosen - middle[:, :-1] - middle[:, 1:]
    proposal_loss = (slope * taus[:, :-1]).sum(-1).mean()
    q_optimizer.zero_grad()
    (value_loss + 0.01 * proposal_loss).backward()
    q_optimizer.step()
    if update % 10 == 9:
        target.load_state_dict(q_func.state_dict())
