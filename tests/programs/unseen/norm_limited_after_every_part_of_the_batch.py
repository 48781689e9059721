"""A quantile Q-learner accumulates its gradient over parts of a large batch. The limit of the norm stands inside the loop:
what is there is cut down after every part, the first parts again and again, and the sum that is stepped is not the
batch's gradient.

Round 20
Class: gradients by hand
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn


@dataclass
class TrainingArguments:
    train_batch_size: int = 24
    gradient_accumulation_steps: int = 4
    learning_rate: float = 2e-3
    max_grad_norm: float = 0.5
    max_steps: int = 60
    target_update: int = 15
    gamma: float = 0.95
    n_quantiles: int = 11
    seed: int = 2011


class QuantileNetwork(nn.Module):
    def __init__(self, obs_dim, n_actions, n_quantiles):
        super().__init__()
        self.n_actions, self.n_quantiles = n_actions, n_quantiles
        self.layers = nn.Sequential(nn.Linear(obs_dim, 64), nn.ReLU(), nn.Linear(64, n_actions * n_quantiles))

    def forward(self, obs):
        return self.layers(obs).view(-1, self.n_actions, self.n_quantiles)


class OfflineShop:
    """Logged days of a shop that orders stock: what was there, what was ordered, what it earned, what was there then."""

    def __init__(self, n, rng):
        stock = rng.integers(0, 8, n)
        order = rng.integers(0, 4, n)
        season = rng.uniform(0, 1, n)
        demand = rng.poisson(1 + 3 * season)
        sold = np.minimum(stock + order, demand)
        self.obs = np.stack([stock / 8, season], 1).astype(np.float32)
        self.action = order
        self.reward = (3.0 * sold - order - 0.3 * (stock + order - sold)).astype(np.float32)
        after = np.clip(stock + order - sold, 0, 8) / 8
        self.next_obs = np.stack([after, np.clip(season + rng.normal(0, 0.05, n), 0, 1)], 1).astype(
            np.float32
        )
        self.closed = (rng.uniform(size=n) < 0.05).astype(np.float32)

    def batches(self, size, rng):
        names = ("obs", "action", "reward", "next_obs", "closed")
        while True:
            idx = rng.integers(0, len(self.obs), size)
            yield {name: torch.from_numpy(getattr(self, name)[idx]) for name in names}


class Trainer:
    def __init__(self, model, target, args, data, rng):
        self.model, self.target, self.args = model, target, args
        self.stream = data.batches(args.train_batch_size, rng)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=args.learning_rate, eps=1e-4)
        self.taus = (torch.arange(args.n_quantiles) + 0.5) / args.n_quantiles

    def compute_loss(self, batch):
        rows = torch.arange(len(batch["obs"]))
        current = self.model(batch["obs"])[rows, batch["action"]]
        with torch.no_grad():
            best = self.model(batch["next_obs"]).mean(-1).argmax(-1)
            following = self.target(batch["next_obs"])[rows, best]
            goal = batch["reward"][:, None] + self.args.gamma * (1 - batch["closed"][:, None]) * following
        error = goal.unsqueeze(1) - current.unsqueeze(2)  # predictions down, targets across
        huber = torch.where(error.abs() < 1, 0.5 * error.pow(2), error.abs() - 0.5)
        weight = (self.taus[None, :, None] - (error.detach() < 0).float()).abs()
        return (weight * huber).sum(1).mean()

    def train(self):
        tr_loss, global_step = 0.0, 0
        self.model.zero_grad()
        while global_step < self.args.max_steps:
            for _ in range(self.args.gradient_accumulation_steps):
                loss = self.compute_loss(next(self.stream)) / self.args.gradient_accumulation_steps
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), self.args.max_grad_norm)  # BUG GS504
                tr_loss += loss.item()
            self.optimizer.step()
            self.model.zero_grad()
            global_step += 1
            if global_step % self.args.target_update == 0:
                self.target.load_state_dict(self.model.state_dict())
        return tr_loss / global_step


args = TrainingArguments()
torch.manual_seed(args.seed)
rng = np.random.default_rng(args.seed)
model, target = QuantileNetwork(2, 4, args.n_quantiles), QuantileNetwork(2, 4, args.n_quantiles)
target.load_state_dict(model.state_dict())
print("mean loss", Trainer(model, target, args, OfflineShop(2000, rng), rng).train())
