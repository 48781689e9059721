"""A soft actor-critic from pixels. The critics' heads are frozen while the actor learns and thawed behind it; both loops run
over one chained iterator, which is spent when the first of them is through. From the second update on only the encoder
is fitted to the values.

Round 20
Class: late and rare
"""

import copy
import itertools

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal


class Encoder(nn.Module):
    """Strips of nine pixels to ten features."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 3, stride=2)
        self.out = nn.Sequential(nn.Linear(16, 10), nn.LayerNorm(10), nn.Tanh())

    def forward(self, obs):
        return self.out(F.relu(self.conv(obs.unsqueeze(1))).flatten(1))


class QHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, features, action):
        return self.q(torch.cat([features, action], dim=-1)).squeeze(-1)


class SquashedGaussianActor(nn.Module):
    def __init__(self, limit=1.0):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 32), nn.ReLU())
        self.mu, self.log_std = nn.Linear(32, 2), nn.Linear(32, 2)
        self.limit = limit

    def forward(self, features):
        h = self.net(features)
        dist = Normal(self.mu(h), self.log_std(h).clamp(-5, 1).exp())
        u = dist.rsample()
        logp = dist.log_prob(u).sum(-1) - (2 * (0.6931471805599453 - u - F.softplus(-2 * u))).sum(-1)
        return self.limit * torch.tanh(u), logp


class Critics(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.q1, self.q2 = Encoder(), QHead(), QHead()


def set_trainable(params, flag):
    for p in params:
        p.requires_grad_(flag)


class SAC:
    def __init__(self, gamma=0.95, alpha=0.05, polyak=0.98, lr=1e-3):
        self.critics, self.actor = Critics(), SquashedGaussianActor()
        self.targets = copy.deepcopy(self.critics)
        set_trainable(self.targets.parameters(), False)
        self.head_params = itertools.chain(
            self.critics.q1.parameters(), self.critics.q2.parameters()
        )  # BUG GS207
        self.q_optimizer = torch.optim.Adam(self.critics.parameters(), lr=lr)
        self.pi_optimizer = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.gamma, self.alpha, self.polyak = gamma, alpha, polyak

    def compute_loss_q(self, o, a, r, o2, d):
        with torch.no_grad():
            z2 = self.targets.encoder(o2)
            a2, logp2 = self.actor(self.critics.encoder(o2))
            q_next = torch.min(self.targets.q1(z2, a2), self.targets.q2(z2, a2))
            backup = r + self.gamma * (1 - d) * (q_next - self.alpha * logp2)
        z = self.critics.encoder(o)
        return F.mse_loss(self.critics.q1(z, a), backup) + F.mse_loss(self.critics.q2(z, a), backup)

    def compute_loss_pi(self, o):
        z = self.critics.encoder(o).detach()  # the encoder belongs to the critics
        pi, logp = self.actor(z)
        return (self.alpha * logp - torch.min(self.critics.q1(z, pi), self.critics.q2(z, pi))).mean()

    def update(self, data):
        self.q_optimizer.zero_grad()
        loss_q = self.compute_loss_q(*data)
        loss_q.backward()
        self.q_optimizer.step()

        set_trainable(self.head_params, False)  # BUG GS207
        self.pi_optimizer.zero_grad()
        self.compute_loss_pi(data[0]).backward()
        self.pi_optimizer.step()
        set_trainable(self.head_params, True)  # BUG GS207

        with torch.no_grad():
            for p, p_targ in zip(self.critics.parameters(), self.targets.parameters()):
                p_targ.mul_(self.polyak).add_((1 - self.polyak) * p)
        return loss_q.item()


def strips(n):
    """A bright spot on a dark strip, and where it lies."""
    place = torch.rand(n) * 8
    return torch.exp(-((torch.arange(9.0) - place.unsqueeze(1)) ** 2)), place / 4 - 1


def experience(n):
    obs, place = strips(n)
    action = torch.rand(n, 2) * 2 - 1
    reward = 1 - (action[:, 0] - place).abs() - 0.1 * action[:, 1].pow(2)
    return obs, action, reward, strips(n)[0], (torch.rand(n) < 0.1).float()


torch.manual_seed(2009)
agent = SAC()
losses = [agent.update(experience(48)) for _ in range(120)]
print("loss", losses[0], "->", sum(losses[-10:]) / 10)
