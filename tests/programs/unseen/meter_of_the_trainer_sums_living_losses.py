"""Imitation of a planner with a trainer that keeps its statistics in meters: the meters add up the losses as
they come, with all the graphs behind them. After visionml/pytracking#313.

Round 36
Class: stays alive
"""

from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn

SEED, GRID = 3617, 6
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))


def plan(goal, walls):
    """Distances to the goal by flooding."""
    distance = np.full((GRID, GRID), np.inf)
    distance[goal], frontier = 0, [goal]
    while frontier:
        cell = frontier.pop(0)
        for dy, dx in MOVES:
            y, x = cell[0] + dy, cell[1] + dx
            if 0 <= y < GRID and 0 <= x < GRID and not walls[y, x] and np.isinf(distance[y, x]):
                distance[y, x] = distance[cell] + 1
                frontier.append((y, x))
    return distance


class MazeDataset:
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.inputs, self.actions, self.costs = [], [], []
        while len(self.inputs) < n:
            walls = rng.random((GRID, GRID)) < 0.2
            free = np.argwhere(~walls)
            start, goal = (tuple(free[i]) for i in rng.choice(len(free), 2, replace=False))
            distance = plan(goal, walls)
            if np.isinf(distance[start]):
                continue
            planes = np.zeros((3, GRID, GRID), dtype=np.float32)
            planes[0], planes[1][start], planes[2][goal] = walls, 1, 1
            near = [(start[0] + dy, start[1] + dx) for dy, dx in MOVES]
            costs = [distance[c] if min(c) >= 0 and max(c) < GRID else np.inf for c in near]
            self.inputs.append(planes)
            self.actions.append(int(np.argmin(costs)))
            self.costs.append(distance[start] / GRID)

    def loader(self, batch_size, rng):
        order = rng.permutation(len(self.inputs))
        for i in range(0, len(order), batch_size):
            chosen = order[i : i + batch_size]
            yield {
                "maze": torch.from_numpy(np.stack([self.inputs[j] for j in chosen])),
                "action": torch.tensor([self.actions[j] for j in chosen]),
                "cost": torch.tensor([self.costs[j] for j in chosen], dtype=torch.float32),
            }


class MazeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.ReLU(), nn.Flatten()
        )
        self.actor = nn.Linear(16 * (GRID - 2) ** 2, len(MOVES))
        self.cost = nn.Linear(16 * (GRID - 2) ** 2, 1)

    def forward(self, maze):
        features = self.backbone(maze)
        return self.actor(features), self.cost(features).squeeze(-1)


class AverageMeter:
    """Keeps the latest value and the average of all."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.val, self.sum, self.count = 0, 0, 0

    @property
    def avg(self):
        return self.sum / max(self.count, 1)

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n  # BUG GS305
        self.count += n


class ImitationActor:
    """Forward pass, losses and statistics of one batch."""

    def __init__(self, net, cost_weight=0.5):
        self.net, self.cost_weight = net, cost_weight

    def __call__(self, data):
        logits, cost = self.net(data["maze"])
        loss_action = nn.functional.cross_entropy(logits, data["action"])
        loss_cost = nn.functional.mse_loss(cost, data["cost"])
        loss = loss_action + self.cost_weight * loss_cost
        accuracy = (logits.argmax(dim=1) == data["action"]).float().mean()
        stats = {
            "Loss/total": loss,  # BUG GS305
            "Loss/action": loss_action,  # BUG GS305
            "Loss/cost": loss_cost,  # BUG GS305
            "Accuracy": accuracy,
        }
        return loss, stats


class LTRTrainer:
    def __init__(self, actor, dataset, optimizer, batch_size=32):
        self.actor, self.dataset, self.optimizer, self.batch_size = actor, dataset, optimizer, batch_size
        self.stats = OrderedDict()
        self.rng = np.random.default_rng(SEED)

    def _update_stats(self, new_stats, batch_size):
        for name, val in new_stats.items():
            self.stats.setdefault(name, AverageMeter()).update(val, batch_size)  # BUG GS305

    def cycle_dataset(self):
        for data in self.dataset.loader(self.batch_size, self.rng):
            loss, stats = self.actor(data)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self._update_stats(stats, len(data["maze"]))

    def train(self, max_epochs):
        for epoch in range(max_epochs):
            self.cycle_dataset()
            if epoch % 3 == 2:
                print(epoch + 1, {k: round(float(m.avg), 3) for k, m in self.stats.items()})


torch.manual_seed(SEED)
np.random.seed(SEED)
net = MazeNet()
trainer = LTRTrainer(ImitationActor(net), MazeDataset(320, SEED), torch.optim.Adam(net.parameters(), lr=2e-3))
trainer.train(max_epochs=9)
