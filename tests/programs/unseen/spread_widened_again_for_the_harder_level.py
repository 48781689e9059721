"""A curriculum of levels for a Gaussian policy with a learned spread. When a level is mastered the spread is set wide
again, by giving the policy a new parameter: the optimizer goes on with the old one, and from the second level on the
spread stays where it was put.

Round 19
Class: late and rare
"""

import numpy as np
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self, obs_size, act_size, action_std_init):
        super().__init__()
        self.act_size = act_size
        self.actor = nn.Sequential(nn.Linear(obs_size, 32), nn.Tanh(), nn.Linear(32, act_size))
        self.log_std = nn.Parameter(torch.full((act_size,), float(np.log(action_std_init))))

    def set_action_std(self, new_action_std):
        log_std = torch.full((self.act_size,), float(np.log(new_action_std)))
        self.log_std = nn.Parameter(log_std)  # BUG GS206 GS205

    def forward(self, obs):
        return torch.distributions.Normal(self.actor(obs), self.log_std.exp())


class Archery:
    """Aim at a target that stands further to the side, and in more wind, from level to level."""

    def __init__(self, rng):
        self.rng, self.level = rng, 0

    def shots(self, count):
        wind = self.rng.normal(0, 0.3 + 0.3 * self.level, size=(count, 1))
        side = self.rng.uniform(-1, 1, size=(count, 1)) * (1 + self.level)
        return torch.tensor(np.concatenate([wind, side], axis=1), dtype=torch.float32)

    def score(self, obs, aim):
        miss = (aim[:, 0] + obs[:, 0] - obs[:, 1]).abs() + 0.3 * (aim[:, 1] - 0.5).abs()
        return torch.exp(-miss)


class Trainer:
    def __init__(self, config):
        self.config = config
        self.env = Archery(np.random.default_rng(config["seed"]))
        self.policy = Policy(2, 2, config["std"])
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=config["lr"])
        self.since = 0

    def update(self):
        obs = self.env.shots(self.config["batch"])
        dist = self.policy(obs)
        aim = dist.sample()
        reward = self.env.score(obs, aim)
        advantage = (reward - reward.mean()) / (reward.std() + 1e-6)
        loss = -(dist.log_prob(aim).sum(-1) * advantage).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return reward.mean().item()

    def maybe_level_up(self):
        self.since += 1
        if self.since < self.config["patience"] or self.env.level == self.config["levels"] - 1:
            return
        self.since = 0
        self.env.level += 1
        self.policy.set_action_std(self.config["std"])

    def train(self):
        for update in range(self.config["updates"]):
            score = self.update()
            self.maybe_level_up()
            if update % 30 == 29:
                std = self.policy.log_std.exp().mean().item()
                print(f"update {update} level {self.env.level} score {score:.3f} std {std:.3f}")


torch.manual_seed(1918)
Trainer(
    {"seed": 1918, "std": 0.6, "lr": 1e-2, "batch": 64, "updates": 150, "patience": 60, "levels": 2}
).train()
