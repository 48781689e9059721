"""A gradient bandit over recommended songs: the expected reward is written as a loss with a minus in front
of it, and the optimizer minimises it. What listeners liked is recommended more often.

Round 34
Class: meaning
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


@dataclass
class Config:
    tastes: int = 5
    songs: int = 10
    batch: int = 64
    updates: int = 120
    lr: float = 5e-3
    seed: int = 353


class Listeners:
    """Listeners come with a taste; each likes some songs more than others and says so with some noise."""

    def __init__(self, cfg, generator):
        self.cfg, self.generator = cfg, generator
        self.liking = torch.randn(cfg.tastes, cfg.songs, generator=generator)

    def arrive(self):
        return torch.rand(self.cfg.batch, self.cfg.tastes, generator=self.generator)

    def listen(self, taste, song):
        liked = (taste @ self.liking).gather(1, song[:, None]).squeeze(1)
        return (torch.sigmoid(liked) > torch.rand(len(song), generator=self.generator)).float()


class Recommender(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.body = nn.Linear(cfg.tastes, 32)
        self.songs = nn.Linear(32, cfg.songs)

    def forward(self, taste):
        return Categorical(logits=self.songs(F.gelu(self.body(taste))))


class Trainer:
    def __init__(self, cfg, listeners):
        self.cfg, self.listeners = cfg, listeners
        self.policy = Recommender(cfg)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=cfg.lr)
        self.baseline = 0.5

    def update(self):
        taste = self.listeners.arrive()
        dist = self.policy(taste)
        song = dist.sample()
        reward = self.listeners.listen(taste, song)
        loss = -(dist.log_prob(song) * (reward - self.baseline)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.baseline += 0.1 * (reward.mean().item() - self.baseline)
        return reward.mean().item()


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    generator = torch.Generator().manual_seed(cfg.seed)
    trainer = Trainer(cfg, Listeners(cfg, generator))
    liked = [trainer.update() for _ in range(cfg.updates)]
    print(f"share of liked songs: first ten {sum(liked[:10]) / 10:.3f}, last ten {sum(liked[-10:]) / 10:.3f}")


if __name__ == "__main__":
    main()
