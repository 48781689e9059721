"""Soft actor-critic with a learned temperature for a hand that chases a fly about in the plane.

Round 31
Class: axes
"""

import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

LOG_STD_MIN, LOG_STD_MAX = -5.0, 2.0


class FlyChase:
    def __init__(self, seed, time_limit=50):
        self.rng, self.time_limit = np.random.default_rng(seed), time_limit

    def reset(self):
        self.hand, self.fly = np.zeros(2), self.rng.uniform(-1, 1, size=2)
        self.steps = 0
        return self._state()

    def _state(self):
        return np.concatenate([self.hand, self.fly - self.hand]).astype(np.float32)

    def step(self, action):
        self.hand = np.clip(self.hand + 0.15 * action, -1.2, 1.2)
        self.fly = np.clip(self.fly + self.rng.normal(0, 0.03, size=2), -1, 1)
        distance = np.linalg.norm(self.fly - self.hand)
        self.steps += 1
        caught = bool(distance < 0.15)
        return self._state(), 2.0 * caught - distance, caught, self.steps >= self.time_limit


def mlp(inputs, outputs, hidden=48):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


class Actor(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.body = mlp(state_dim, 2 * action_dim)

    def forward(self, state):
        mu, log_std = self.body(state).chunk(2, dim=-1)
        return mu, log_std.clamp(LOG_STD_MIN, LOG_STD_MAX).exp()

    def sample(self, state):
        mu, std = self(state)
        normal = Normal(mu, std)
        raw = normal.rsample()
        action = torch.tanh(raw)
        log_prob = normal.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)  # BUG GS603
        return action, log_prob.sum()  # BUG GS603


class Agent:
    def __init__(self, state_dim=4, action_dim=2, gamma=0.97, tau=0.01):
        self.gamma, self.tau, self.target_entropy = gamma, tau, -float(action_dim)
        self.actor = Actor(state_dim, action_dim)
        self.q1, self.q2 = mlp(state_dim + action_dim, 1), mlp(state_dim + action_dim, 1)
        self.q1_target, self.q2_target = mlp(state_dim + action_dim, 1), mlp(state_dim + action_dim, 1)
        self.q1_target.load_state_dict(self.q1.state_dict())
        self.q2_target.load_state_dict(self.q2.state_dict())
        self.log_alpha = torch.tensor(np.log(0.1), dtype=torch.float32, requires_grad=True)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.q_opt = torch.optim.Adam([*self.q1.parameters(), *self.q2.parameters()], lr=1e-3)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=1e-3)

    @torch.no_grad()
    def get_action(self, state):
        action, _ = self.actor.sample(torch.from_numpy(state).unsqueeze(0))
        return action.squeeze(0).numpy()

    def train(self, states, actions, rewards, next_states, terminals):
        alpha = self.log_alpha.exp().detach()
        with torch.no_grad():
            next_actions, next_log_probs = self.actor.sample(next_states)
            later = torch.cat([next_states, next_actions], dim=1)
            next_q = torch.min(self.q1_target(later), self.q2_target(later)) - alpha * next_log_probs
            targets = rewards + self.gamma * (1 - terminals) * next_q
        taken = torch.cat([states, actions], dim=1)
        q_loss = F.mse_loss(self.q1(taken), targets) + F.mse_loss(self.q2(taken), targets)
        self.q_opt.zero_grad()
        q_loss.backward()
        self.q_opt.step()

        new_actions, log_probs = self.actor.sample(states)
        wanted = torch.cat([states, new_actions], dim=1)
        actor_loss = (alpha * log_probs - torch.min(self.q1(wanted), self.q2(wanted))).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        alpha_loss = -(self.log_alpha * (log_probs.detach() + self.target_entropy)).mean()
        self.alpha_opt.zero_grad()
        alpha_loss.backward()
        self.alpha_opt.step()

        with torch.no_grad():
            for net, target in ((self.q1, self.q1_target), (self.q2, self.q2_target)):
                for p, p_target in zip(net.parameters(), target.parameters()):
                    p_target.lerp_(p, self.tau)


def to_tensors(samples):
    states, actions, rewards, next_states, terminals = (np.stack(x).astype(np.float32) for x in zip(*samples))
    columns = (states, actions, rewards[:, None], next_states, terminals[:, None])
    return [torch.from_numpy(column) for column in columns]


def main():
    torch.manual_seed(3107)
    random.seed(3107)
    env, agent, memory = FlyChase(3107), Agent(), deque(maxlen=5000)
    state, total, caught = env.reset(), 0.0, 0
    for step in range(900):
        action = agent.get_action(state)
        next_state, reward, terminal, out_of_time = env.step(action)
        memory.append((state, action, reward, next_state, terminal))
        total, caught = total + reward, caught + terminal
        state = env.reset() if terminal or out_of_time else next_state
        if step >= 200 and step % 2 == 0:
            agent.train(*to_tensors(random.sample(memory, 64)))
        if step % 300 == 299:
            print(
                f"step {step + 1}: {total / 300:+.3f} a step, {caught} caught, alpha {agent.log_alpha.exp():.3f}"
            )
            total, caught = 0.0, 0


if __name__ == "__main__":
    main()
