"""A routing policy on maps with one-way distances. The environment reads a tour's legs with a colon where the number
of the map should stand: every tour is measured on every map, and its log-probability meets a table of rewards.

Round 17
Class: axes
"""

import torch
from torch import nn

torch.manual_seed(1704)
CITIES, MAPS = 6, 20


class OneWayTours:
    def reset(self):
        near = torch.rand(MAPS, CITIES, CITIES)
        for middle in range(CITIES):
            near = torch.minimum(near, near[:, :, middle, None] + near[:, None, middle, :])
        return near * (1 - torch.eye(CITIES))

    def reward(self, distances, tours):
        start, end = tours, torch.roll(tours, -1, dims=1)
        legs = distances[:, start, end]  # BUG GS601 GS604
        return -legs.sum(-1)


class TourPolicy(nn.Module):
    """Row and column of a city are its features; the next city is chosen by attention from the present one."""

    def __init__(self, width=32):
        super().__init__()
        self.leaving, self.arriving = nn.Linear(CITIES, width), nn.Linear(CITIES, width)
        self.query = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, width))
        self.near = nn.Parameter(torch.zeros(()))

    def forward(self, distances, greedy=False):
        rows = torch.arange(MAPS)
        cities = torch.tanh(self.leaving(distances) + self.arriving(distances.transpose(1, 2)))
        here = torch.zeros(MAPS, dtype=torch.long)
        seen = torch.zeros(MAPS, CITIES, dtype=torch.bool)
        tour, scores = [here], []
        for _ in range(CITIES - 1):
            seen = seen | nn.functional.one_hot(here, CITIES).bool()
            asked = self.query(torch.cat([cities[rows, here], cities.mean(1)], -1))
            logits = torch.einsum("md,mcd->mc", asked, cities) / 5.0 - self.near * distances[rows, here]
            choice = torch.distributions.Categorical(logits=logits.masked_fill(seen, -1e9))
            here = choice.probs.argmax(-1) if greedy else choice.sample()
            scores.append(choice.log_prob(here))
            tour.append(here)
        return torch.stack(tour, 1), torch.stack(scores, 1).sum(1)


def greedy_baseline(env, policy, distances):
    with torch.no_grad():
        tours, _ = policy(distances, greedy=True)
        return env.reward(distances, tours)


def train(updates=50):
    env, policy = OneWayTours(), TourPolicy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    for update in range(updates):
        distances = env.reset()
        tours, log_prob = policy(distances)
        reward = env.reward(distances, tours)
        advantage = reward - greedy_baseline(env, policy, distances)
        loss = -(advantage * log_prob).mean()  # BUG GS601 GS604
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        if update % 10 == 9:
            print(f"{update + 1}: length {-reward.mean().item():.3f}")


train()
