"""Soft actor-critic with twin critics. One line is wrong: the critics also step on the actor's loss."""

from __future__ import annotations

import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal

GAMMA, TAU, BATCH = 0.95, 0.05, 64


class Actor(nn.Module):
    def __init__(self, hidden: int = 32) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.mean = nn.Linear(hidden, 1)
        self.log_std = nn.Linear(hidden, 1)

    def forward(self, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        features = self.body(state)
        normal = Normal(self.mean(features), self.log_std(features).clamp(-5, 2).exp())
        raw = normal.rsample()
        action = torch.tanh(raw)
        log_prob = normal.log_prob(raw) - torch.log(1.0 - action.pow(2) + 1e-6)
        return action, log_prob.squeeze(-1)


class Critic(nn.Module):
    def __init__(self, hidden: int = 32) -> None:
        super().__init__()
        self.fc1 = nn.Linear(3, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, 1)

    def forward(self, state: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        hidden = F.relu(self.fc1(torch.cat([state, action], dim=1)))
        return self.fc3(F.relu(self.fc2(hidden))).squeeze(-1)


class Agent:
    def __init__(self) -> None:
        self.actor, self.q1, self.q2 = Actor(), Critic(), Critic()
        self.slow_q1, self.slow_q2 = copy.deepcopy(self.q1), copy.deepcopy(self.q2)
        self.log_alpha = torch.zeros((), requires_grad=True)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam([*self.q1.parameters(), *self.q2.parameters()], lr=1e-3)
        self.alpha_optimizer = torch.optim.Adam([self.log_alpha], lr=1e-3)

    def update(self, state, action, reward, next_state) -> None:
        with torch.no_grad():
            next_action, next_log_prob = self.actor(next_state)
            slow = torch.minimum(self.slow_q1(next_state, next_action), self.slow_q2(next_state, next_action))
            target = reward + GAMMA * (slow - self.log_alpha.exp() * next_log_prob)
        first, second = self.q1(state, action), self.q2(state, action)
        critic_loss = F.mse_loss(first, target) + F.mse_loss(second, target)
        critic_loss.backward()
        self.critic_optimizer.step()
        self.critic_optimizer.zero_grad()  # wrong: belongs before `critic_loss.backward()`

        proposed, log_prob = self.actor(state)
        value = torch.minimum(self.q1(state, proposed), self.q2(state, proposed))
        actor_loss = (self.log_alpha.exp().detach() * log_prob - value).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        alpha_loss = -(self.log_alpha * (log_prob.detach() - 1.0)).mean()
        self.alpha_optimizer.zero_grad()
        alpha_loss.backward()
        self.alpha_optimizer.step()

    @torch.no_grad()
    def follow(self) -> None:
        for slow, fast in ((self.slow_q1, self.q1), (self.slow_q2, self.q2)):
            for target, source in zip(slow.parameters(), fast.parameters(), strict=True):
                target.lerp_(source, TAU)


def train(updates: int) -> None:
    torch.manual_seed(0)
    agent = Agent()
    for _ in range(updates):  # a point is pushed along one axis, at random; it is paid for staying near 0
        state = torch.randn(BATCH, 2)
        action = 2.0 * torch.rand(BATCH, 1) - 1.0
        next_state = state + 0.1 * torch.cat([state[:, 1:], action], dim=1)
        agent.update(state, action, -next_state.pow(2).sum(1), next_state)
        agent.follow()
    print(f"done after {updates} updates")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=80)
    train(parser.parse_args().updates)
