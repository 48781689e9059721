"""A travelling salesman who encodes, attends and navigates, with a critic that guesses the tour's length: one
backward of both losses, and the guess inside the policy's loss is live. After
astariul/encode-attend-navigate-pytorch#2.

Round 36
Class: stays alive
"""

import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


@dataclass
class Config:
    seed: int = 3612
    n_cities: int = 8
    batch_size: int = 32
    hidden: int = 48
    heads: int = 4
    clip_logits: float = 10.0
    lr: float = 1e-3
    steps: int = 45
    grad_clip: float = 1.0


class Encoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.embed = nn.Linear(2, c.hidden)
        self.attention = nn.MultiheadAttention(c.hidden, c.heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(c.hidden), nn.LayerNorm(c.hidden)
        self.ff = nn.Sequential(
            nn.Linear(c.hidden, 2 * c.hidden), nn.ReLU(), nn.Linear(2 * c.hidden, c.hidden)
        )

    def forward(self, cities):
        x = self.embed(cities)
        x = self.norm1(x + self.attention(x, x, x, need_weights=False)[0])
        return self.norm2(x + self.ff(x))


class Decoder(nn.Module):
    """Asks with the first and the last city of the tour; the keys are the cities."""

    def __init__(self, c):
        super().__init__()
        self.c = c
        self.start = nn.Parameter(torch.randn(2 * c.hidden) * 0.1)
        self.query = nn.Linear(2 * c.hidden, c.hidden)
        self.key = nn.Linear(c.hidden, c.hidden)

    def forward(self, encoded):
        batch, n, _ = encoded.shape
        keys, rows = self.key(encoded), torch.arange(batch)
        visited = torch.zeros(batch, n, dtype=torch.bool)
        context, tour, log_prob, first = self.start.expand(batch, -1), [], torch.zeros(batch), None
        for _ in range(n):
            scores = (keys @ self.query(context).unsqueeze(-1)).squeeze(-1) / math.sqrt(self.c.hidden)
            scores = self.c.clip_logits * torch.tanh(scores)
            dist = Categorical(logits=scores.masked_fill(visited, -1e9))
            city = dist.sample()
            log_prob = log_prob + dist.log_prob(city)
            visited = visited | F.one_hot(city, n).bool()
            tour.append(city)
            here = encoded[rows, city]
            first = here if first is None else first
            context = torch.cat([first, here], dim=-1)
        return torch.stack(tour, dim=1), log_prob


class Critic(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.weigh = nn.Linear(c.hidden, 1)
        self.out = nn.Sequential(nn.Linear(c.hidden, c.hidden), nn.ReLU(), nn.Linear(c.hidden, 1))

    def forward(self, encoded):
        glimpse = (torch.softmax(self.weigh(encoded), dim=1) * encoded).sum(dim=1)
        return self.out(glimpse).squeeze(-1)


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.encoder, self.decoder, self.critic = Encoder(c), Decoder(c), Critic(c)

    def forward(self, cities):
        encoded = self.encoder(cities)
        tour, log_prob = self.decoder(encoded)
        return tour, log_prob, self.critic(encoded)


def tour_length(cities, tour):
    ordered = cities.gather(1, tour.unsqueeze(-1).expand(-1, -1, 2))
    return (ordered - ordered.roll(-1, dims=1)).norm(dim=-1).sum(dim=1)


class Trainer:
    def __init__(self, c):
        self.c, self.model = c, Model(c)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=c.lr)

    def train_step(self):
        cities = torch.rand(self.c.batch_size, self.c.n_cities, 2)
        tour, log_prob, predicted = self.model(cities)
        length = tour_length(cities, tour)

        regret = length - predicted  # BUG GS303 GS304
        policy_loss = (regret * log_prob).mean()
        critic_loss = F.mse_loss(predicted, length)
        loss = policy_loss + critic_loss

        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.c.grad_clip)
        self.optimizer.step()
        return length.mean().item(), critic_loss.item()

    def train(self):
        for step in range(self.c.steps):
            length, critic_loss = self.train_step()
            if step % 15 == 0 or step == self.c.steps - 1:
                print(f"step {step:3d}  length {length:.3f}  critic {critic_loss:.3f}")


if __name__ == "__main__":
    config = Config()
    torch.manual_seed(config.seed)
    Trainer(config).train()
