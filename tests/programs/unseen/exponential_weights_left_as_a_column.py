"""Critic-regularised regression: the weights exp(advantage) come from the critic as a column, the log-probabilities of
the logged actions are flat, and their product pairs every action with every weight. After pytorch/rl#1243.

Round 27
Class: axes
"""

import copy

import torch
import torch.nn as nn
from torch.distributions import Independent, Normal


def build_logs(n=1200):
    """Steering a glider to the thermal; the pilots that made the logs differ much in skill."""
    state = torch.rand(n, 3) * 2 - 1
    skill = torch.rand(n, 1)
    right = torch.stack([-state[:, 0] + 0.3 * state[:, 2], -state[:, 1]], 1)
    action = (skill * right + (1 - skill) * torch.randn(n, 2)).clamp(-1.5, 1.5)
    moved = state[:, :2] + 0.5 * action
    next_state = torch.cat([moved, state[:, 2:] * 0.9], 1)
    reward = -moved.pow(2).sum(1, keepdim=True)
    terminal = (moved.norm(dim=1, keepdim=True) < 0.15).float()
    return state, action, reward, next_state, terminal


class GaussianPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.mean = nn.Linear(64, 2)
        self.log_std = nn.Linear(64, 2)

    def forward(self, state):
        h = self.net(state)
        return Independent(Normal(self.mean(h), self.log_std(h).clamp(-4, 1).exp()), 1)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, state, action):
        return self.net(torch.cat([state, action], -1))


class CRR:
    def __init__(self, gamma=0.9, beta=0.5, samples=4, tau=0.02):
        self.gamma, self.beta, self.samples, self.tau = gamma, beta, samples, tau
        self.policy, self.critic = GaussianPolicy(), Critic()
        self.slow_policy, self.slow_critic = copy.deepcopy(self.policy), copy.deepcopy(self.critic)
        self.policy_optim = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def critic_step(self, state, action, reward, next_state, terminal):
        with torch.no_grad():
            next_action = self.slow_policy(next_state).sample()
            target = reward + self.gamma * (1 - terminal) * self.slow_critic(next_state, next_action)
        loss = nn.functional.mse_loss(self.critic(state, action), target)
        self.critic_optim.zero_grad()
        loss.backward()
        self.critic_optim.step()
        return loss.item()

    @torch.no_grad()
    def weights(self, state, action):
        tried = self.policy(state).sample((self.samples,))
        baseline = self.critic(state.expand(self.samples, -1, -1), tried).mean(0)
        advantage = self.critic(state, action) - baseline
        return (advantage / self.beta).exp().clamp(max=20.0)  # BUG GS601

    def policy_step(self, state, action):
        log_prob = self.policy(state).log_prob(action)
        weights = self.weights(state, action)  # BUG GS601
        loss = -(weights * log_prob).mean()  # BUG GS601
        self.policy_optim.zero_grad()
        loss.backward()
        self.policy_optim.step()
        return loss.item()

    def soften(self):
        with torch.no_grad():
            for fast, slow in ((self.policy, self.slow_policy), (self.critic, self.slow_critic)):
                for p, q in zip(fast.parameters(), slow.parameters()):
                    q.lerp_(p, self.tau)


def main():
    torch.manual_seed(2716)
    logs, agent = build_logs(), CRR()
    for step in range(80):
        rows = torch.randint(len(logs[0]), (48,))
        state, action, reward, next_state, terminal = (column[rows] for column in logs)
        q_loss = agent.critic_step(state, action, reward, next_state, terminal)
        pi_loss = agent.policy_step(state, action)
        agent.soften()
        if step % 20 == 0:
            print(f"{step:4d} q {q_loss:.3f} pi {pi_loss:.3f}")


main()
