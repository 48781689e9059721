"""Short tours by attention and REINFORCE. A critic guesses the length of the tour from the cities and is the baseline
of the policy; it is not cut off there, so the policy's term moves the critic as well as the critic's own.

Round 18
Class: weights
"""

import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(1814)
CITIES, BATCH, DIM = 8, 32, 32


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(2, DIM)
        self.attend = nn.MultiheadAttention(DIM, 4, batch_first=True)
        self.norm = nn.LayerNorm(DIM)

    def forward(self, cities):
        x = self.embed(cities)
        return self.norm(x + self.attend(x, x, x, need_weights=False)[0])


class Pointer(nn.Module):
    """Names one city after the other, never one twice."""

    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.first = nn.Parameter(torch.zeros(DIM))
        self.query, self.key = nn.Linear(2 * DIM, DIM), nn.Linear(DIM, DIM)

    def forward(self, cities):
        nodes = self.encoder(cities)
        keys, mean = self.key(nodes), nodes.mean(1)
        last, visited = self.first.expand(len(cities), -1), torch.zeros(len(cities), CITIES, dtype=torch.bool)
        tour, log_prob = [], 0
        for _ in range(CITIES):
            query = self.query(torch.cat([mean, last], -1))
            scores = 10 * torch.tanh(torch.einsum("bd,bnd->bn", query, keys) / DIM**0.5)
            dist = Categorical(logits=scores.masked_fill(visited, -1e9))
            city = dist.sample()
            log_prob = log_prob + dist.log_prob(city)
            visited = visited.scatter(1, city[:, None], True)
            last = nodes[torch.arange(len(cities)), city]
            tour.append(city)
        return torch.stack(tour, 1), log_prob


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Sequential(nn.Linear(DIM, DIM), nn.ReLU(), nn.Linear(DIM, 1))

    def forward(self, cities):
        return self.head(self.encoder(cities).mean(1)).squeeze(-1)


def tour_length(cities, tour):
    ordered = cities.gather(1, tour[..., None].expand(-1, -1, 2))
    return (ordered - ordered.roll(-1, 1)).norm(dim=-1).sum(1)


def train(actor, critic, steps):
    params = list(actor.parameters()) + list(critic.parameters())
    optimizer = torch.optim.Adam(params, lr=1e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=50, gamma=0.96)
    for step in range(steps):
        cities = torch.rand(BATCH, CITIES, 2)
        tour, log_prob = actor(cities)
        length = tour_length(cities, tour)
        predicted = critic(cities)
        advantage = length - predicted  # BUG GS303 GS304
        actor_loss = (advantage * log_prob).mean()  # BUG GS303 GS304
        critic_loss = nn.functional.mse_loss(predicted, length)
        optimizer.zero_grad()
        (actor_loss + critic_loss).backward()
        nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()
        scheduler.step()
        if step % 20 == 0:
            print(f"{step}: length {length.mean():.3f} critic {critic_loss:.3f}")


train(Pointer(), Critic(), steps=60)
