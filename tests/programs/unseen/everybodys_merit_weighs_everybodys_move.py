"""Critic-regularised regression learns to park from a log of random driving. The merit of a logged move is
a column and its log-probability is flat; their product is a square in which every move is weighed by the
merits of the whole batch.

Round 33
Class: axes
"""

import copy
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass(frozen=True)
class Settings:
    places: int = 9
    moves: int = 3
    gamma: float = 0.9
    beta: float = 0.5
    cap: float = 10.0
    batch: int = 64
    updates: int = 150
    tau: float = 0.02


def drive_at_random(cfg, episodes, rng):
    """A lane of places; parking in the right one ends the drive, rolling off the lane as well."""
    log = []
    for _ in range(episodes):
        place, goal = rng.integers(cfg.places), rng.integers(cfg.places)
        for _ in range(12):
            obs = np.array([place, goal], dtype=np.float32) / cfg.places
            move = int(rng.integers(cfg.moves))
            if move == 2:
                reward, over = (1.0 if place == goal else -0.2), True
            else:
                place += 2 * move - 1
                over = not 0 <= place < cfg.places
                reward = -0.5 if over else -0.02
            after = np.array([place, goal], dtype=np.float32) / cfg.places
            log.append((obs, move, np.float32(reward), after, np.float32(over)))
            if over:
                break
    return [torch.as_tensor(np.stack(column)) for column in zip(*log)]


class Learner:
    def __init__(self, cfg):
        self.cfg = cfg
        self.policy = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, cfg.moves))
        self.critic = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, cfg.moves))
        self.slow_policy, self.slow_critic = copy.deepcopy(self.policy), copy.deepcopy(self.critic)
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=2e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=2e-3)

    def critic_loss(self, obs, move, reward, after, over):
        with torch.no_grad():
            probs = F.softmax(self.slow_policy(after), -1)
            expected = (probs * self.slow_critic(after)).sum(-1)
            target = reward + self.cfg.gamma * (1 - over) * expected
        return F.mse_loss(self.critic(obs).gather(1, move[:, None]).squeeze(1), target)

    def merit(self, obs, move):
        with torch.no_grad():
            q = self.critic(obs)
            mean = (F.softmax(self.policy(obs), -1) * q).sum(-1, keepdim=True)
            advantage = q.gather(1, move[:, None]) - mean
            return (advantage / self.cfg.beta).exp().clamp(max=self.cfg.cap)  # BUG GS601

    def policy_loss(self, obs, move):
        log_prob = torch.distributions.Categorical(logits=self.policy(obs)).log_prob(move)
        return -(log_prob * self.merit(obs, move)).mean()  # BUG GS601

    def update(self, batch):
        obs, move = batch[:2]
        critic_loss = self.critic_loss(*batch)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        policy_loss = self.policy_loss(obs, move)
        self.policy_optimizer.zero_grad()
        policy_loss.backward()
        self.policy_optimizer.step()
        with torch.no_grad():
            for net, slow in ((self.policy, self.slow_policy), (self.critic, self.slow_critic)):
                for p, s in zip(net.parameters(), slow.parameters()):
                    s.lerp_(p, self.cfg.tau)
        return critic_loss.item(), policy_loss.item()


torch.manual_seed(6)
rng = np.random.default_rng(6)
settings = Settings()
data = drive_at_random(settings, 300, rng)
learner = Learner(settings)
for i in range(settings.updates):
    rows = torch.from_numpy(rng.integers(0, len(data[0]), settings.batch))
    losses = learner.update([column[rows] for column in data])
    if i % 50 == 49:
        print(f"{i + 1}: critic {losses[0]:.4f} policy {losses[1]:.4f}")
