"""A policy imitates a careful driver with two pedals, then gets a new head with a third pedal and goes on
with REINFORCE. A new optimizer is made for the network with its new head.

Round 32
Class: the line
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical
from torch.nn import functional as F


class Road:
    """Keep your distance; a crash, falling behind or the end of the street (in sight) ends the ride."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.gap, self.speed, self.street = self.rng.uniform(0.8, 1.2), 0.0, 30
        return self.look()

    def look(self):
        return np.array([self.gap - 1, self.speed, self.street / 30], dtype=np.float32)

    def drive(self, pedal):
        self.speed = 0.9 * self.speed + (-0.1, 0.1, 0.0)[pedal]
        self.gap += -0.3 * self.speed + self.rng.normal(0, 0.03)
        self.street -= 1
        lost = self.gap < 0 or self.gap > 2
        reward = -1.0 if lost else 0.1 - 0.1 * abs(self.gap - 1)
        return self.look(), reward, lost or self.street == 0


class Driver(nn.Module):
    def __init__(self, pedals):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.head = nn.Linear(32, pedals)

    def forward(self, obs):
        return self.head(self.trunk(obs))


def careful(obs):
    return int(obs[0] - 0.5 * obs[1] > 0)


def demonstrations(road, rides):
    seen, pedals = [], []
    for _ in range(rides):
        obs, over = road.reset(), False
        while not over:
            pedal = careful(obs) if road.rng.random() > 0.1 else int(road.rng.integers(2))
            seen.append(obs), pedals.append(careful(obs))
            obs, _, over = road.drive(pedal)
    return torch.tensor(np.array(seen)), torch.tensor(pedals)


def imitate(driver, optimizer, seen, pedals, steps=60):
    for _ in range(steps):
        index = torch.randint(len(seen), (64,))
        loss = F.cross_entropy(driver(seen[index]), pedals[index])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def reinforce(driver, optimizer, road, updates=30, rides=4, discount=0.97):
    history = []
    for _ in range(updates):
        log_probs, returns = [], []
        for _ in range(rides):
            obs, over, rewards = road.reset(), False, []
            while not over:
                choice = Categorical(logits=driver(torch.from_numpy(obs)))
                pedal = choice.sample()
                log_probs.append(choice.log_prob(pedal))
                obs, reward, over = road.drive(int(pedal))
                rewards.append(reward)
            history.append(sum(rewards))
            total = 0.0
            tail = []
            for reward in reversed(rewards):
                total = reward + discount * total
                tail.append(total)
            returns.extend(reversed(tail))
        weight = torch.tensor(returns)
        weight = (weight - weight.mean()) / (weight.std() + 1e-8)
        loss = -(torch.stack(log_probs) * weight).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return history


torch.manual_seed(21)
road = Road(21)
driver = Driver(pedals=2)
optimizer = torch.optim.Adam(driver.parameters(), lr=3e-3)
print(f"imitation loss {imitate(driver, optimizer, *demonstrations(road, 12)):.3f}")

driver.head = nn.Linear(32, 3)
optimizer = torch.optim.Adam(driver.parameters(), lr=3e-3)
history = reinforce(driver, optimizer, road)
print(f"mean return of the first rides {np.mean(history[:20]):.2f}, of the last {np.mean(history[-20:]):.2f}")
