"""A functional quantile learner: the weights of its target are detached, and lie in the same memory as those that are trained.

Round 12
Class: weights
"""

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(1213)
ACTIONS, QUANTILES, BATCH = 3, 8, 20
levels = (torch.arange(QUANTILES) + 0.5) / QUANTILES

net = nn.Sequential(nn.Linear(5, 48), nn.ReLU(), nn.Linear(48, ACTIONS * QUANTILES))


def weights_of(module):
    """The weights as they are now, for a target that stands still until the next call."""
    return {name: p.detach() for name, p in module.named_parameters()}  # BUG GS306


def quantiles(weights, obs):
    return functional_call(net, weights, (obs,)).view(-1, ACTIONS, QUANTILES)


def select(table, action):
    return table[torch.arange(len(action)), action]


@torch.no_grad()
def goals(frozen, reward, after, done):
    table = quantiles(frozen, after)
    best = table.mean(-1).argmax(-1)
    return reward[:, None] + 0.9 * (1 - done[:, None]) * select(table, best)


def quantile_huber(predicted, goal):
    error = goal[:, None, :] - predicted[:, :, None]
    size = torch.where(error.abs() < 1, 0.5 * error.pow(2), error.abs() - 0.5)
    tilt = (levels[None, :, None] - (error.detach() < 0).float()).abs()
    return (tilt * size).sum(1).mean()


def experience():
    obs, action = torch.randn(BATCH, 5), torch.randint(ACTIONS, (BATCH,))
    after = obs.roll(1, 1) + 0.1 * torch.randn(BATCH, 5)
    return obs, action, obs[torch.arange(BATCH), action], after, (torch.rand(BATCH) < 0.1).float()


optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
frozen = weights_of(net)
for update in range(80):
    obs, action, reward, after, done = experience()
    goal = goals(frozen, reward, after, done)
    predicted = select(quantiles(dict(net.named_parameters()), obs), action)
    loss = quantile_huber(predicted, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (update + 1) % 20 == 0:
        frozen = weights_of(net)
