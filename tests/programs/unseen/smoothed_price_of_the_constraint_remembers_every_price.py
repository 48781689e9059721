"""A constrained policy: the price of the constraint is smoothed over the updates with gradients on, so that each one's
loss reaches back through all the prices before it.

Round 12
Class: stays alive
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(1215)


class Price(nn.Module):
    """A multiplier that moves slowly: the logarithm is averaged before it is used."""

    def __init__(self, keep=0.9):
        super().__init__()
        self.log_price = nn.Parameter(torch.tensor(-1.0))
        self.keep = keep
        self.smooth = torch.tensor(-1.0)

    def forward(self):
        self.smooth = torch.lerp(self.smooth, self.log_price, 1 - self.keep)  # BUG GS305
        return self.smooth.exp()


class Walker(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 2))
        self.log_std = nn.Parameter(torch.full((2,), -0.7))

    def forward(self, obs):
        return Normal(self.mean(obs), self.log_std.exp())


class ConstrainedTrainer:
    limit = 0.3

    def __init__(self):
        self.walker, self.price = Walker(), Price()
        self.policy_opt = torch.optim.Adam(self.walker.parameters(), lr=3e-3)
        self.price_opt = torch.optim.SGD(self.price.parameters(), lr=0.05)

    def walk(self, count=48):
        obs = torch.randn(count, 6)
        dist = self.walker(obs)
        action = dist.sample()
        speed, effort = (action * obs[:, :2].sign()).sum(1), action.pow(2).sum(1)
        return dist.log_prob(action).sum(1), speed, effort

    def update(self):
        log_prob, speed, effort = self.walk()
        price = self.price()
        worth = speed - price.detach() * effort
        worth = (worth - worth.mean()) / (worth.std() + 1e-6)
        self.policy_opt.zero_grad()
        (-(log_prob * worth).mean()).backward()
        self.policy_opt.step()

        self.price_opt.zero_grad()
        (-price * (effort.mean() - self.limit)).backward()
        self.price_opt.step()
        return price.item(), effort.mean().item()


trainer = ConstrainedTrainer()
for update in range(60):
    price, effort = trainer.update()
print("price", price, "effort", effort)
