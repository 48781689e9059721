"""A soft actor with an ensemble of critics drives a cart with two axles: the log-probability of a drawn command keeps
a column for each axle and is never summed over them.

Round 30
Class: axes
"""

import copy
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

random.seed(3005)
torch.manual_seed(3005)

ENSEMBLE, SUBSET, ALPHA, GAMMA, RHO = 4, 2, 0.1, 0.96, 0.99


class Yard:
    def __init__(self, seconds=25):
        self.seconds = seconds

    def reset(self):
        self.clock, self.place, self.speed = 0, torch.rand(2) * 2 - 1, torch.zeros(2)
        return torch.cat([self.place, self.speed])

    def step(self, command):
        self.clock += 1
        self.speed = 0.8 * self.speed + 0.2 * command
        self.place = (self.place + 0.3 * self.speed).clamp(-2, 2)
        reward = -self.place.abs().sum() - 0.05 * command.pow(2).sum()
        return torch.cat([self.place, self.speed]), reward, self.clock == self.seconds


class Driver(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 48), nn.ReLU())
        self.mean, self.log_std = nn.Linear(48, 2), nn.Linear(48, 2)

    def forward(self, obs):
        h = self.body(obs)
        normal = Normal(self.mean(h), self.log_std(h).clamp(-5, 1).exp())
        u = normal.rsample()
        command = torch.tanh(u)
        correction = 2 * (0.6931472 - u - F.softplus(-2 * u))
        return command, normal.log_prob(u) - correction  # BUG GS603


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, obs, command):
        return self.layers(torch.cat([obs, command], dim=-1))


driver = Driver()
critics = nn.ModuleList(Critic() for _ in range(ENSEMBLE))
slow_critics = copy.deepcopy(critics).requires_grad_(False)
driver_optimizer = torch.optim.Adam(driver.parameters(), lr=1e-3)
critics_optimizer = torch.optim.Adam(critics.parameters(), lr=1e-3)
replay = []


def update(batch, with_driver):
    obs, command, reward, next_obs = (torch.stack(part) for part in zip(*batch))
    with torch.no_grad():
        next_command, next_log_prob = driver(next_obs)
        chosen = random.sample(range(ENSEMBLE), SUBSET)
        q_next = torch.stack([slow_critics[k](next_obs, next_command) for k in chosen]).amin(dim=0)
        backup = reward.unsqueeze(-1) + GAMMA * (q_next - ALPHA * next_log_prob)  # BUG GS603 GS601
    critics_loss = sum(((critic(obs, command) - backup) ** 2).mean() for critic in critics)  # BUG GS603 GS601
    critics_optimizer.zero_grad()
    critics_loss.backward()
    critics_optimizer.step()

    if with_driver:
        proposal, log_prob = driver(obs)
        q = torch.stack([critic(obs, proposal) for critic in critics]).mean(dim=0)
        driver_loss = (ALPHA * log_prob - q).mean()  # BUG GS603 GS601
        driver_optimizer.zero_grad()
        driver_loss.backward()
        driver_optimizer.step()

    with torch.no_grad():
        for fast, slow in zip(critics.parameters(), slow_critics.parameters()):
            slow.mul_(RHO).add_(fast, alpha=1 - RHO)


yard = Yard()
obs = yard.reset()
for step in range(160):
    with torch.no_grad():
        command, _ = driver(obs)
    next_obs, reward, over = yard.step(command)
    replay.append((obs, command, reward, next_obs))
    obs = yard.reset() if over else next_obs
    if step >= 70:
        for k in range(2):
            update(random.sample(replay, 48), with_driver=k == 1)
