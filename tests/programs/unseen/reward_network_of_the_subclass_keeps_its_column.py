"""Adversarial inverse reinforcement learning. The base class promises one reward for each transition; a reward network of
one's own forgets to take its last axis away, and meets flat potentials and flat log-probabilities as a column.

Round 20
Class: axes
"""

import abc

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal


class RewardNet(nn.Module, abc.ABC):
    """Maps states and actions to rewards, one for each row."""

    @abc.abstractmethod
    def forward(self, state, action):
        """Rewards of shape [batch]."""


class CrossedRewardNet(RewardNet):
    """Looks at state and action, and at their products."""

    def __init__(self, state_dim, action_dim, hidden=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(state_dim + 2 * action_dim, hidden), nn.Tanh(), nn.Linear(hidden, 1)
        )

    def forward(self, state, action):
        crossed = action * state[:, : action.shape[1]]
        return self.net(torch.cat([state, action, crossed], dim=1))  # BUG GS601


class Potential(nn.Module):
    def __init__(self, state_dim, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(state_dim, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, state):
        return self.net(state).squeeze(1)


class AIRLDiscriminator(nn.Module):
    def __init__(self, reward_net, potential, gamma):
        super().__init__()
        self.reward_net, self.potential, self.gamma = reward_net, potential, gamma

    def shaped(self, state, action, next_state, done):
        shaping = self.gamma * (1 - done) * self.potential(next_state) - self.potential(state)
        return self.reward_net(state, action) + shaping  # BUG GS601

    def logits(self, state, action, next_state, done, log_policy):
        return self.shaped(state, action, next_state, done) - log_policy


class Policy(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(state_dim, 32), nn.Tanh(), nn.Linear(32, action_dim))
        self.log_std = nn.Parameter(torch.full((action_dim,), -0.5))

    def dist(self, state):
        return Normal(self.mean(state), self.log_std.exp())

    def log_prob(self, state, action):
        return self.dist(state).log_prob(action).sum(-1)


def move(state, action):
    return 0.9 * state + 0.3 * torch.cat([action, action[:, :1] - action[:, 1:]], dim=1)


def transitions(n, act):
    state = torch.randn(n, 3)
    action = act(state)
    return state, action, move(state, action), (torch.rand(n) < 0.1).float()


def expert(state):
    """Pushes back against the first two coordinates, with a steady hand."""
    return -0.8 * state[:, :2] + 0.1 * torch.randn(len(state), 2)


torch.manual_seed(2018)
policy = Policy(3, 2)
discriminator = AIRLDiscriminator(CrossedRewardNet(3, 2), Potential(3), gamma=0.95)
disc_opt = torch.optim.Adam(discriminator.parameters(), lr=3e-3)
policy_opt = torch.optim.Adam(policy.parameters(), lr=5e-3)
n = 40
for iteration in range(60):
    with torch.no_grad():
        generated = transitions(n, lambda s: policy.dist(s).sample())
        demonstrated = transitions(n, expert)
    for _ in range(2):
        with torch.no_grad():
            log_fake = policy.log_prob(*generated[:2])
            log_real = policy.log_prob(*demonstrated[:2]).clamp(min=-20)
        fake = discriminator.logits(*generated, log_fake)
        real = discriminator.logits(*demonstrated, log_real)
        disc_loss = F.softplus(fake).mean() + F.softplus(-real).mean()
        disc_opt.zero_grad()
        disc_loss.backward()
        disc_opt.step()
    state, action, next_state, done = generated
    log_policy = policy.log_prob(state, action)
    with torch.no_grad():
        reward = discriminator.logits(state, action, next_state, done, log_policy)
        advantage = (reward - reward.mean()) / (reward.std() + 1e-6)
    policy_loss = -(log_policy * advantage).mean()
    policy_opt.zero_grad()
    policy_loss.backward()
    policy_opt.step()
print("discriminator", round(disc_loss.item(), 3), "spread", policy.log_std.exp().tolist())
