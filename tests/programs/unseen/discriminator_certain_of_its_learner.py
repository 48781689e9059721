"""Adversarial imitation on a rail: the learner is paid the logarithm of the chance that the discriminator takes it for
the expert. The discriminator ends in a sigmoid and soon rounds to exactly one; the logarithm of nothing is minus
infinity, and what standardises the rewards turns it into no number at all.

Round 19
Class: magnitude
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

HORIZON = 16


class Discriminator(nn.Module):
    """One for the learner, zero for the expert."""

    def __init__(self, size, hidden=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(size, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, pairs):
        return torch.sigmoid(self.net(pairs))  # BUG GS503


class GaussianPolicy(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        self.log_std = nn.Parameter(torch.full((1,), -1.0))

    def act(self, state):
        mean = self.mean(state)
        return mean + self.log_std.exp() * torch.randn_like(mean)

    def log_prob(self, state, action):
        z = (action - self.mean(state)) / self.log_std.exp()
        return (-0.5 * z.pow(2) - self.log_std).sum(-1)


def rollout(act, count):
    """Carts on a rail, pushed a little every step."""
    state, states, actions = 0.1 * torch.randn(count, 1), [], []
    with torch.no_grad():
        for _ in range(HORIZON):
            action = act(state)
            states.append(state)
            actions.append(action)
            state = 0.8 * state + 0.5 * action
    return torch.cat(states), torch.cat(actions)


def expert(state):
    return 2.0 - 0.5 * state + 0.05 * torch.randn_like(state)


class GAIL:
    def __init__(self, disc_steps=6):
        self.disc_steps = disc_steps
        self.policy, self.disc = GaussianPolicy(), Discriminator(2)
        self.policy_optim = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.disc_optim = torch.optim.Adam(self.disc.parameters(), lr=1e-2)
        self.criterion = nn.BCELoss()

    def update_disc(self, learner, demonstrated):
        for _ in range(self.disc_steps):
            mine, theirs = self.disc(learner), self.disc(demonstrated)
            loss = self.criterion(mine, torch.ones_like(mine))
            loss = loss + self.criterion(theirs, torch.zeros_like(theirs))
            self.disc_optim.zero_grad()
            loss.backward()
            self.disc_optim.step()
        return loss.item()

    def rewards(self, pairs):
        with torch.no_grad():
            return torch.log(1 - self.disc(pairs)).squeeze(-1)  # BUG GS503

    def update_policy(self, states, actions):
        rewards = self.rewards(torch.cat([states, actions], 1))
        weights = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
        loss = -(self.policy.log_prob(states, actions) * weights).mean()
        self.policy_optim.zero_grad()
        loss.backward()
        self.policy_optim.step()
        return rewards.mean().item()


torch.manual_seed(1914)
trainer = GAIL()
for iteration in range(60):
    demonstrated = torch.cat(rollout(expert, 8), 1)
    states, actions = rollout(trainer.policy.act, 8)
    disc_loss = trainer.update_disc(torch.cat([states, actions], 1), demonstrated)
    reward = trainer.update_policy(states, actions)
    if iteration % 10 == 9:
        print(f"{iteration}: discriminator {disc_loss:.4f}, reward {reward:.2f}")
