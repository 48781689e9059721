"""SAC for a tank: the squash correction is computed from the action before the tanh and stays finite everywhere.

Round 28
Class: magnitude
"""

import copy
import math
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


class Tank:
    """Keep the level of a tank near sixty centimetres; what is measured is level and outflow in centimetres."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def reset(self):
        self.level, self.t = self.rng.uniform(20.0, 100.0), 0
        self.outflow = self.rng.uniform(0.0, 5.0)
        return self.measure()

    def measure(self):
        return [self.level, self.outflow, float(self.t)]

    def step(self, valve):
        self.level = min(120.0, max(0.0, self.level + 5.0 * (valve + 0.5) - self.outflow))
        self.outflow = min(5.0, max(0.0, self.outflow + self.rng.gauss(0.0, 0.5)))
        self.t += 1
        return self.measure(), -abs(self.level - 60.0) / 60.0, self.t >= 25


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.head = nn.Linear(64, 2)

    def sample(self, state):
        mean, log_std = self.head(self.body(state)).chunk(2, dim=-1)
        normal = torch.distributions.Normal(mean, log_std.clamp(-20.0, 2.0).exp(), validate_args=False)
        raw = normal.rsample()
        action = torch.tanh(raw)
        log_prob = normal.log_prob(raw) - 2 * (math.log(2) - raw - F.softplus(-2 * raw))
        return action, log_prob.sum(dim=-1, keepdim=True)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.q1 = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 1))
        self.q2 = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, state, action):
        x = torch.cat([state / 60.0, action], dim=-1)
        return self.q1(x), self.q2(x)


class SAC:
    def __init__(self, gamma=0.95, tau=0.02, alpha=0.1):
        self.gamma, self.tau, self.alpha = gamma, tau, alpha
        self.actor, self.critic = Actor(), Critic()
        self.target = copy.deepcopy(self.critic).requires_grad_(False)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=5e-4)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    @torch.no_grad()
    def act(self, state):
        return self.actor.sample(torch.tensor(state))[0].item()

    def update(self, batch):
        state, action, reward, next_state, done = (torch.tensor(x, dtype=torch.float32) for x in zip(*batch))
        action, reward, done = action[:, None], reward[:, None], done[:, None]
        with torch.no_grad():
            next_action, next_log_prob = self.actor.sample(next_state)
            soft = torch.min(*self.target(next_state, next_action)) - self.alpha * next_log_prob
            y = reward + self.gamma * (1 - done) * soft
        q1, q2 = self.critic(state, action)
        critic_loss = F.mse_loss(q1, y) + F.mse_loss(q2, y)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        new_action, log_prob = self.actor.sample(state)
        actor_loss = (self.alpha * log_prob - torch.min(*self.critic(state, new_action))).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()
        for p, q in zip(self.critic.parameters(), self.target.parameters()):
            q.data.lerp_(p.data, self.tau)
        return critic_loss.item(), actor_loss.item()


def main(steps=300, seed=2291):
    random.seed(seed)
    torch.manual_seed(seed)
    tank, agent, memory = Tank(seed), SAC(), deque(maxlen=1000)
    state = tank.reset()
    for step in range(steps):
        valve = random.uniform(-1.0, 1.0) if step < 80 else agent.act(state)
        next_state, reward, done = tank.step(valve)
        memory.append((state, valve, reward, next_state, float(done)))
        state = tank.reset() if done else next_state
        if step >= 80 and step % 3 == 0:
            losses = agent.update(random.sample(memory, 32))
            if step % 60 == 21:
                print(f"step {step}: critic {losses[0]:.3f} actor {losses[1]:.3f}")


main()
