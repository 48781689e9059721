"""Maximum a posteriori policy optimisation for a price; the temperature's dual is a log-sum-exp.

Round 29
Class: magnitude
"""

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal, kl_divergence

EPSILON, SAMPLES, BATCH = 0.1, 16, 48


class Market:
    """One day: the demand is seen, a price is set, the profit comes in."""

    def draw(self, size):
        return torch.rand(size, 2)

    def profit(self, demand, price):
        wanted = 1.5 + 0.5 * demand[..., 0] - 0.8 * (price.squeeze(-1) - demand[..., 1])
        return 60 * wanted - 20 * (price.squeeze(-1) - 0.5).pow(2)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.zeros(1))

    def forward(self, demand):
        return Normal(self.mean(demand), self.log_std.clamp(-3, 1).exp())


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, demand, price):
        return self.net(torch.cat([demand, price], dim=-1)).squeeze(-1)


def temperature_dual(eta, q):
    partition = torch.logsumexp(q / eta, dim=0) - math.log(SAMPLES)
    return eta * EPSILON + eta * partition.mean()


torch.manual_seed(2911)
market, policy, critic = Market(), Policy(), Critic()
behaviour = copy.deepcopy(policy)
log_eta = nn.Parameter(torch.tensor(-1.0))
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)
policy_opt = torch.optim.Adam(policy.parameters(), lr=2e-3)
eta_opt = torch.optim.Adam([log_eta], lr=3e-3)

for day in range(150):
    demand = market.draw(BATCH)
    with torch.no_grad():
        price = behaviour(demand).sample()
        profit = market.profit(demand, price)
    critic_loss = F.smooth_l1_loss(critic(demand, price), profit)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    with torch.no_grad():
        proposals = behaviour(demand).sample((SAMPLES,))
        q = critic(demand.expand(SAMPLES, -1, -1), proposals)
    dual = temperature_dual(log_eta.exp(), q)
    eta_opt.zero_grad()
    dual.backward()
    eta_opt.step()

    weights = (q / log_eta.exp().detach()).softmax(dim=0)
    current = policy(demand)
    with torch.no_grad():
        before = behaviour(demand)
    fit = -(weights * current.log_prob(proposals).sum(-1)).sum(0).mean()
    loss = fit + 0.5 * kl_divergence(before, current).sum(-1).mean()
    policy_opt.zero_grad()
    loss.backward()
    policy_opt.step()
    if day % 10 == 9:
        behaviour.load_state_dict(policy.state_dict())
