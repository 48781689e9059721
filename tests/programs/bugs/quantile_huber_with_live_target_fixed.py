"""QR-DQN with a hand-written quantile Huber loss; the next quantiles come from the live network."""

import torch
from torch import nn

torch.manual_seed(0)
N, ACTIONS = 8, 3
taus = (torch.arange(N) + 0.5) / N
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, ACTIONS * N))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-4)


def quantiles(obs):
    return net(obs).view(-1, ACTIONS, N)


def pick(all_quantiles, action):
    return all_quantiles[torch.arange(len(action)), action]


for _ in range(10):
    obs, next_obs = torch.randn(16, 4), torch.randn(16, 4)
    action, reward = torch.randint(ACTIONS, (16,)), torch.randn(16, 1)
    now = pick(quantiles(obs), action)
    with torch.no_grad():
        after = quantiles(next_obs)
    best = after.mean(-1).argmax(-1)
    wanted = reward + 0.99 * pick(after, best)
    error = wanted.unsqueeze(1) - now.unsqueeze(2)
    huber = torch.where(error.abs() <= 1.0, 0.5 * error**2, error.abs() - 0.5)
    weight = (taus.view(1, N, 1) - (error.detach() < 0).float()).abs()
    loss = (weight * huber).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
