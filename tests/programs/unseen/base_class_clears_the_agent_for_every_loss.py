"""The base class clears the whole agent in front of every backward; a subclass has two losses and steps after both.

Round 12
Class: the line
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(1209)


class Learner(nn.Module):
    """What all learners share: how a loss becomes gradients."""

    clip = 5.0

    def differentiate(self, loss, module):
        self.zero_grad()  # BUG GS405
        loss.backward()
        return nn.utils.clip_grad_norm_(module.parameters(), self.clip)

    def losses(self, batch):
        raise NotImplementedError

    def fit(self, batch):
        for name, loss in self.losses(batch).items():
            self.differentiate(loss, getattr(self, name))
        for optimizer in self.optimizers:
            optimizer.step()


class AdvantageActorCritic(Learner):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 1))
        self.critic = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 1))
        self.optimizers = [torch.optim.Adam(m.parameters(), lr=3e-3) for m in (self.actor, self.critic)]

    def act(self, obs):
        with torch.no_grad():
            return Normal(self.actor(obs), 0.4).sample()

    def losses(self, batch):
        obs, action, reward, after, done = batch
        with torch.no_grad():
            goal = reward + 0.9 * (1 - done) * self.critic(after).squeeze(-1)
        value = self.critic(obs).squeeze(-1)
        logp = Normal(self.actor(obs), 0.4).log_prob(action).sum(-1)
        return {
            "actor": -(logp * (goal - value).detach()).mean(),
            "critic": (value - goal).pow(2).mean(),
        }


class Carts:
    """Forty carts on a slope; to stay near the middle pays, and far away the ride is over."""

    def __init__(self, number=40):
        self.state = torch.randn(number, 3)

    def step(self, action):
        after = 0.95 * self.state + 0.1 * torch.randn_like(self.state)
        after[:, :1] += 0.2 * action
        reward = -after[:, 0].abs()
        done = (after[:, 0].abs() > 2.5).float()
        self.state = torch.where(done[:, None] > 0, torch.randn_like(after), after)
        return after, reward, done


learner, carts = AdvantageActorCritic(), Carts()
for update in range(60):
    obs = carts.state
    action = learner.act(obs)
    after, reward, done = carts.step(action)
    learner.fit((obs, action, reward, after, done))
