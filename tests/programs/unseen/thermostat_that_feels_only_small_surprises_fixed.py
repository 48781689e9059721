"""A thermostat learns with Q-learning how much to heat; every hour costs a lot. The loss is quadratic up to
an error of one and linear behind it, so that large errors still have a gradient.

Round 33
Class: zero in part
"""

import numpy as np
import torch
from torch import nn

LEVELS = 3
SETTING = {"gamma": 0.9, "lr": 5e-3, "batch": 64}


class House:
    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.inside = self.rng.uniform(5, 30)
        self.outside = self.rng.uniform(-5, 12)
        return self.observe()

    def observe(self):
        return np.array([self.inside / 20, self.outside / 20], dtype=np.float32)

    def step(self, level):
        self.inside += 0.1 * (self.outside - self.inside) + 1.5 * level
        self.outside += self.rng.normal(0, 0.5)
        cost = 4.0 + 2.0 * level + abs(self.inside - 20.0)
        return self.observe(), -cost


def make_network():
    return nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, LEVELS))


def td_loss(online, target, batch):
    obs, level, reward, after = batch
    q = online(obs).gather(1, level.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        wanted = reward + SETTING["gamma"] * target(after).max(1).values
    return nn.functional.smooth_l1_loss(q, wanted)


def collect(online, house, obs, hours, epsilon, rng):
    rows = []
    for _ in range(hours):
        if rng.random() < epsilon:
            level = int(rng.integers(LEVELS))
        else:
            with torch.no_grad():
                level = online(torch.from_numpy(obs)).argmax().item()
        after, reward = house.step(level)
        rows.append((obs, level, np.float32(reward), after))
        obs = after
    return rows, obs


def main():
    torch.manual_seed(17)
    rng = np.random.default_rng(17)
    online, target = make_network(), make_network()
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.Adam(online.parameters(), lr=SETTING["lr"])
    house, memory = House(rng), []
    for day in range(40):
        rows, _ = collect(online, house, house.reset(), 24, max(0.1, 1 - day / 20), rng)
        memory.extend(rows)
        for _ in range(4):
            picks = [memory[i] for i in rng.integers(0, len(memory), SETTING["batch"])]
            loss = td_loss(online, target, [torch.as_tensor(np.stack(column)) for column in zip(*picks)])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if day % 5 == 4:
            target.load_state_dict(online.state_dict())
        if day % 10 == 9:
            cost = -np.mean([row[2] for row in rows])
            print(f"day {day + 1}: loss {loss.item():.3f}, cost of an hour {cost:.2f}")


main()
