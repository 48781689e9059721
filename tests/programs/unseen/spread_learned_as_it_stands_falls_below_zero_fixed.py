"""Proximal policy optimisation for hovering drones: the parameter is the logarithm of the spread.

Round 30
Class: magnitude
"""

import math

import torch
from torch import nn

torch.manual_seed(3006)

DRONES, HORIZON, EPOCHS, PARTS = 32, 16, 4, 4
GAMMA, LAMBDA, CLIP = 0.95, 0.9, 0.2


class Hover:
    """Drones that wait at their post: gusts push them, and every push of their own costs more than a gust."""

    def __init__(self):
        self.offset = torch.zeros(DRONES, 4)

    def look(self):
        return self.offset.clone()

    def step(self, thrust):
        gust = 0.01 * torch.randn(DRONES, 4)
        self.offset = (0.5 * self.offset + thrust + gust).clamp(-1, 1)
        return self.look(), -10.0 * self.offset.pow(2).sum(dim=1)


class Pilot(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 4))
        nn.init.uniform_(self.mean[2].weight, -0.001, 0.001)
        nn.init.zeros_(self.mean[2].bias)
        self.value = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.full((4,), 0.1).log())

    def draw(self, seen):
        mean = self.mean(seen)
        return mean + self.log_std.exp() * torch.randn_like(mean)

    def log_prob(self, seen, thrust):
        z = (thrust - self.mean(seen)) / self.log_std.exp()
        return (-0.5 * z**2 - self.log_std - 0.5 * math.log(2 * math.pi)).sum(dim=1)


def fly(world, pilot):
    rows = []
    seen = world.look()
    with torch.no_grad():
        for _ in range(HORIZON):
            thrust = pilot.draw(seen)
            later, reward = world.step(thrust)
            rows.append((seen, thrust, pilot.log_prob(seen, thrust), pilot.value(seen).squeeze(1), reward))
            seen = later
        value_after = pilot.value(seen).squeeze(1)
        seen, thrust, log_prob, value, reward = (torch.stack(part) for part in zip(*rows))
        advantage, running = torch.zeros_like(reward), torch.zeros(DRONES)
        for t in reversed(range(HORIZON)):
            running = reward[t] + GAMMA * value_after - value[t] + GAMMA * LAMBDA * running
            advantage[t], value_after = running, value[t]
    parts = (seen, thrust, log_prob, advantage, advantage + value)
    return [part.flatten(0, 1) for part in parts]


world, pilot = Hover(), Pilot()
optimizer = torch.optim.SGD(pilot.parameters(), lr=2e-2)
for iteration in range(30):
    seen, thrust, old_log_prob, advantage, goal = fly(world, pilot)
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    for _ in range(EPOCHS):
        for rows in torch.randperm(DRONES * HORIZON).chunk(PARTS):
            ratio = torch.exp(pilot.log_prob(seen[rows], thrust[rows]) - old_log_prob[rows])
            gain = torch.min(ratio * advantage[rows], ratio.clamp(1 - CLIP, 1 + CLIP) * advantage[rows])
            error = (pilot.value(seen[rows]).squeeze(1) - goal[rows]).pow(2)
            loss = -gain.mean() + 0.5 * error.mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(pilot.parameters(), 1.0)
            optimizer.step()
