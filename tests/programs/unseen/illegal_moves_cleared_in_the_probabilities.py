"""A board game: the probabilities of illegal moves are set to zero in the softmax's own output.

Round 8
Class: forward errors
"""

import torch
from torch import nn

torch.manual_seed(803)
CELLS = 9


def play(net, batch=64):
    board = torch.randint(-1, 2, (batch, CELLS)).float()
    illegal = board != 0
    illegal[:, 0] = False
    probs = torch.softmax(net(board), -1)
    probs[illegal] = 0.0  # BUG GS101
    probs = probs / probs.sum(-1, keepdim=True)
    dist = torch.distributions.Categorical(probs=probs)
    move = dist.sample()
    reward = (move % 2 == 0).float() - 0.5
    return dist.log_prob(move), reward


net = nn.Sequential(nn.Linear(CELLS, 48), nn.ReLU(), nn.Linear(48, CELLS))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for game in range(40):
    logp, reward = play(net)
    opt.zero_grad()
    (-(logp * (reward - reward.mean())).mean()).backward()
    opt.step()
