"""Implicit Q-learning extracts its policy with the exponential of the advantage, up to a ceiling, as weight. See
tinkoff-ai/CORL#46.

Round 25
Class: magnitude
"""

import copy
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

EXP_ADV_MAX = 100.0


@dataclass
class TrainConfig:
    seed: int = 2521
    discount: float = 0.95
    tau: float = 0.05
    beta: float = 10.0
    iql_tau: float = 0.7
    lr: float = 1e-2
    batch_size: int = 64
    max_timesteps: int = 120


def make_dataset(rng, n=1200):
    """Logged throttle of a cart; steering back pays a lot, driving off the track costs a lot."""
    rows, x = [], rng.normal(size=2)
    for _ in range(n):
        action = rng.uniform(-1, 1, size=1)
        nxt = np.array([x[0] + 0.3 * x[1], 0.9 * x[1] + 0.5 * action[0]])
        off = bool(abs(nxt[0]) > 2.0)
        caught = bool(action[0] * x[0] < -0.3)  # steered back towards the middle
        rows.append((x, action, 100.0 * caught - 10 * abs(nxt[0]) - 100.0 * off, nxt, off))
        x = rng.normal(size=2) if off else nxt
    return [torch.tensor(np.array(c), dtype=torch.float32) for c in zip(*rows)]


def asymmetric_l2_loss(u, tau):
    return torch.mean(torch.abs(tau - (u < 0).float()) * u**2)


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, n_out))


class DeterministicPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(mlp(2, 1), nn.Tanh())

    def forward(self, obs):
        return self.net(obs)


class TwinQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.q1, self.q2 = mlp(3, 1), mlp(3, 1)

    def both(self, state, action):
        sa = torch.cat([state, action], 1)
        return self.q1(sa).squeeze(-1), self.q2(sa).squeeze(-1)

    def forward(self, state, action):
        return torch.min(*self.both(state, action))


class ImplicitQLearning:
    def __init__(self, config):
        self.config = config
        self.qf, self.vf, self.actor = TwinQ(), mlp(2, 1), DeterministicPolicy()
        self.q_target = copy.deepcopy(self.qf).requires_grad_(False)
        self.q_optimizer = torch.optim.Adam(self.qf.parameters(), lr=config.lr)
        self.v_optimizer = torch.optim.Adam(self.vf.parameters(), lr=config.lr)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=config.lr)

    def _update_v(self, observations, actions):
        with torch.no_grad():
            target_q = self.q_target(observations, actions)
        adv = target_q - self.vf(observations).squeeze(-1)
        self._step(self.v_optimizer, asymmetric_l2_loss(adv, self.config.iql_tau))
        return adv

    def _update_q(self, next_v, observations, actions, rewards, terminals):
        targets = rewards + (1.0 - terminals) * self.config.discount * next_v.detach()
        qs = self.qf.both(observations, actions)
        self._step(self.q_optimizer, sum(F.mse_loss(q, targets) for q in qs) / len(qs))
        for p, slow in zip(self.qf.parameters(), self.q_target.parameters()):
            slow.data.lerp_(p.data, self.config.tau)

    def _update_policy(self, adv, observations, actions):
        exp_adv = torch.exp(self.config.beta * adv.detach()).clamp(max=EXP_ADV_MAX)
        bc_losses = torch.sum((self.actor(observations) - actions) ** 2, dim=1)
        self._step(self.actor_optimizer, torch.mean(exp_adv * bc_losses))

    @staticmethod
    def _step(optimizer, loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def train(self, batch):
        observations, actions, rewards, next_observations, dones = batch
        with torch.no_grad():
            next_v = self.vf(next_observations).squeeze(-1)
        adv = self._update_v(observations, actions)
        self._update_q(next_v, observations, actions, rewards, dones)
        self._update_policy(adv, observations, actions)


def main():
    config = TrainConfig()
    torch.manual_seed(config.seed)
    rng = np.random.default_rng(config.seed)
    dataset = make_dataset(rng)
    trainer = ImplicitQLearning(config)
    for _ in range(config.max_timesteps):
        index = torch.from_numpy(rng.integers(len(dataset[0]), size=config.batch_size))
        trainer.train([column[index] for column in dataset])


if __name__ == "__main__":
    main()
