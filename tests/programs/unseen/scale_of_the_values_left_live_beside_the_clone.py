"""Offline twin delayed learning with a cloning term: the weight that brings the critic's values to one scale is a live
function of those values, and its gradient runs against the values' own.

Round 29
Class: the line
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn


class Actor(nn.Module):
    def __init__(self, state_dim, action_dim, limit):
        super().__init__()
        self.l1, self.l2, self.limit = nn.Linear(state_dim, 64), nn.Linear(64, action_dim), limit

    def forward(self, state):
        return self.limit * torch.tanh(self.l2(F.relu(self.l1(state))))


class Critic(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(state_dim + action_dim, 64), nn.ReLU(), nn.Linear(64, 1))
        self.second = nn.Sequential(nn.Linear(state_dim + action_dim, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, state, action):
        both = torch.cat([state, action], 1)
        return self.first(both), self.second(both)


class OfflineTD3:
    def __init__(self, state_dim, action_dim, limit=1.0, alpha=2.5, discount=0.99, tau=0.005):
        self.actor, self.critic = Actor(state_dim, action_dim, limit), Critic(state_dim, action_dim)
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=3e-4)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=3e-4)
        self.limit, self.alpha, self.discount, self.tau = limit, alpha, discount, tau
        self.total_it = 0

    def train(self, state, action, next_state, reward, not_done):
        self.total_it += 1
        with torch.no_grad():
            noise = (torch.randn_like(action) * 0.2).clamp(-0.5, 0.5)
            next_action = (self.actor_target(next_state) + noise).clamp(-self.limit, self.limit)
            target = reward + not_done * self.discount * torch.min(
                *self.critic_target(next_state, next_action)
            )
        q1, q2 = self.critic(state, action)
        critic_loss = F.mse_loss(q1, target) + F.mse_loss(q2, target)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        if self.total_it % 2:
            return
        pi = self.actor(state)
        q = self.critic(state, pi)[0]
        lmbda = self.alpha / q.abs().mean()  # BUG GS209 GS303
        actor_loss = -lmbda * q.mean() + F.mse_loss(pi, action)  # BUG GS209 GS303
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        with torch.no_grad():
            for net, slow in ((self.critic, self.critic_target), (self.actor, self.actor_target)):
                for p, s in zip(net.parameters(), slow.parameters()):
                    s.copy_(self.tau * p + (1 - self.tau) * s)


def dataset(size):
    state = torch.randn(size, 4).clamp(-2.4, 2.4)
    action = torch.tanh(-0.5 * state[:, :2] + 0.4 * torch.randn(size, 2))
    next_state = 0.9 * state + 0.2 * torch.cat([action, -action], 1) + 0.05 * torch.randn(size, 4)
    reward = 1 - next_state.pow(2).mean(1, keepdim=True)
    not_done = (next_state.abs().max(1, keepdim=True).values < 2.5).float()
    return state, action, next_state, reward, not_done


torch.manual_seed(2908)
data = dataset(1024)
learner = OfflineTD3(4, 2)
for _ in range(160):
    rows = torch.randint(1024, (64,))
    learner.train(*(column[rows] for column in data))
