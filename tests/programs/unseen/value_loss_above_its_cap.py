"""A trainer of clipped policies limits the squared error of the value to a number from its configuration, ten. The
costs of this task are five a step and more: every error lies above the limit, and the value learns nothing.

Round 18
Class: zero in part
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

DEFAULT_CONFIG = {
    "gamma": 0.9,
    "lambda": 0.95,
    "lr": 1e-3,
    "clip_param": 0.2,
    "vf_clip_param": 10.0,  # BUG GS208
    "vf_loss_coeff": 0.5,
    "num_sgd_iter": 4,
    "minibatch": 50,
}


class Swing:
    """Costs as for a pendulum and five for the motor at every step; never ends, is cut after a hundred."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.angle, self.speed, self.t = self.rng.uniform(-np.pi, np.pi), self.rng.uniform(-1, 1), 0
        return self.obs()

    def obs(self):
        return np.array([np.cos(self.angle), np.sin(self.angle), self.speed / 8], dtype=np.float32)

    def step(self, force):
        force = float(np.clip(force, -2, 2))
        angle = (self.angle + np.pi) % (2 * np.pi) - np.pi
        cost = 5.0 + 0.3 * angle**2 + 0.1 * self.speed**2 + 0.001 * force**2
        self.speed = np.clip(self.speed + 0.75 * np.sin(self.angle) + 0.15 * force, -8, 8)
        self.angle += 0.05 * self.speed
        self.t += 1
        return self.obs(), -cost, self.t == 100


class FullyConnected(nn.Module):
    def __init__(self):
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.zeros(1))
        self.value_branch = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))

    def dist(self, obs):
        return Normal(self.policy(obs), self.log_std.exp())

    def value_function(self, obs):
        return self.value_branch(obs).squeeze(-1)


class PPOTrainer:
    def __init__(self, config):
        self.config = {**DEFAULT_CONFIG, **config}
        self.model = FullyConnected()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=self.config["lr"])
        self.env = Swing(np.random.default_rng(1806))

    @torch.no_grad()
    def sample(self):
        rows, obs, done = [], self.env.reset(), False
        while not done:
            seen = torch.from_numpy(obs)[None]
            dist = self.model.dist(seen)
            action = dist.sample()
            obs, reward, done = self.env.step(action.item())
            logp, value = dist.log_prob(action).sum(-1), self.model.value_function(seen)
            rows.append((seen, action, logp, value, torch.tensor([reward], dtype=torch.float32)))
        obs_, action, logp, value, reward = (torch.cat(column) for column in zip(*rows))
        after = torch.cat([value[1:], self.model.value_function(torch.from_numpy(obs)[None])])
        delta, adv, last = reward + self.config["gamma"] * after - value, torch.zeros(len(rows)), 0.0
        for t in reversed(range(len(rows))):
            adv[t] = last = delta[t] + self.config["gamma"] * self.config["lambda"] * last
        return {"obs": obs_, "actions": action, "logp": logp, "adv": adv, "targets": adv + value}

    def loss(self, batch):
        dist = self.model.dist(batch["obs"])
        ratio = torch.exp(dist.log_prob(batch["actions"]).sum(-1) - batch["logp"])
        adv = (batch["adv"] - batch["adv"].mean()) / (batch["adv"].std() + 1e-8)
        clip = self.config["clip_param"]
        surrogate = torch.min(adv * ratio, adv * ratio.clamp(1 - clip, 1 + clip))
        vf_loss = torch.pow(self.model.value_function(batch["obs"]) - batch["targets"], 2.0)
        vf_loss_clipped = torch.clamp(vf_loss, 0, self.config["vf_clip_param"])  # BUG GS208
        return torch.mean(-surrogate + self.config["vf_loss_coeff"] * vf_loss_clipped)

    def train(self):
        batch = self.sample()
        for _ in range(self.config["num_sgd_iter"]):
            for rows in torch.randperm(100).split(self.config["minibatch"]):
                loss = self.loss({k: v[rows] for k, v in batch.items()})
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
        return loss.item()


torch.manual_seed(1806)
trainer = PPOTrainer({"lr": 5e-3})
for i in range(12):
    print(i, trainer.train())
