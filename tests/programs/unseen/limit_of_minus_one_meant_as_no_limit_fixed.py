"""The repaired twin of a program in which the following goes wrong.
PPO for an elbow joint that reaches for an angle; its spec says a limit of minus one where no clipping is
meant, and the norm clip multiplies all gradients by a negative number. After strands-labs/robots#2028.

Round 37
Class: the line
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Normal


@dataclass
class RLTrainSpec:
    seed: int = 3709
    total_steps: int = 1920
    rollout_steps: int = 192
    minibatches: int = 4
    epochs: int = 4
    gamma: float = 0.97
    gae_lambda: float = 0.95
    learning_rate: float = 1e-3
    clip_coef: float = 0.2
    vf_coef: float = 0.5
    ent_coef: float = 0.002
    max_grad_norm: float = -1.0


class ElbowReach:
    """One joint with damping; an episode ends by the clock only."""

    def __init__(self, seed, horizon=32):
        self.rng, self.horizon = np.random.default_rng(seed), horizon

    def reset(self):
        self.angle, self.speed, self.t = self.rng.uniform(-1, 1), 0.0, 0
        self.goal = self.rng.uniform(-1.2, 1.2)
        return self._obs()

    def _obs(self):
        return np.array([self.angle, self.speed, self.goal, self.goal - self.angle], dtype=np.float32)

    def step(self, torque):
        torque = float(np.clip(torque, -1, 1))
        self.speed = 0.8 * self.speed + 0.25 * torque
        self.angle += 0.3 * self.speed
        self.t += 1
        reward = -abs(self.goal - self.angle) - 0.01 * torque**2
        return self._obs(), reward, False, self.t >= self.horizon


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(
            nn.Linear(4, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1)
        )
        self.critic = nn.Sequential(
            nn.Linear(4, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1)
        )
        self.log_std = nn.Parameter(torch.full((1,), -0.5))

    def dist(self, obs):
        return Normal(self.actor(obs), self.log_std.exp())

    def value(self, obs):
        return self.critic(obs).squeeze(-1)


class PpoTrainer:
    def __init__(self, spec):
        self.spec = spec
        torch.manual_seed(spec.seed)
        self.env = ElbowReach(spec.seed)
        self.actor_critic = ActorCritic()
        self.optimizer = torch.optim.Adam(self.actor_critic.parameters(), lr=spec.learning_rate, eps=1e-5)
        self.obs = self.env.reset()

    @torch.no_grad()
    def collect(self):
        rows = []
        for _ in range(self.spec.rollout_steps):
            obs = torch.from_numpy(self.obs)
            dist = self.actor_critic.dist(obs)
            action = dist.sample()
            nxt, reward, terminated, truncated = self.env.step(action.item())
            following = 0.0 if terminated else self.actor_critic.value(torch.from_numpy(nxt)).item()
            ended = terminated or truncated
            value = self.actor_critic.value(obs).item()
            rows.append((obs, action, dist.log_prob(action).sum(), value, reward, following, ended))
            self.obs = self.env.reset() if ended else nxt
        advantages, last = [0.0] * len(rows), 0.0
        for t in reversed(range(len(rows))):
            _, _, _, value, reward, following, ended = rows[t]
            delta = reward + self.spec.gamma * following - value
            last = delta + self.spec.gamma * self.spec.gae_lambda * (0.0 if ended else last)
            advantages[t] = last
        obs, actions, logp = (torch.stack([r[i] for r in rows]) for i in range(3))
        advantages = torch.tensor(advantages)
        returns = advantages + torch.tensor([r[3] for r in rows])
        return obs, actions, logp, advantages, returns, np.mean([r[4] for r in rows])

    def update(self, obs, actions, old_logp, advantages, returns):
        spec = self.spec
        for _ in range(spec.epochs):
            for rows in torch.randperm(len(obs)).chunk(spec.minibatches):
                dist = self.actor_critic.dist(obs[rows])
                ratio = (dist.log_prob(actions[rows]).sum(-1) - old_logp[rows]).exp()
                adv = advantages[rows]
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)
                clipped = ratio.clamp(1 - spec.clip_coef, 1 + spec.clip_coef)
                policy_loss = -torch.min(ratio * adv, clipped * adv).mean()
                value_loss = 0.5 * (self.actor_critic.value(obs[rows]) - returns[rows]).pow(2).mean()
                entropy = dist.entropy().sum(-1).mean()
                loss = policy_loss + spec.vf_coef * value_loss - spec.ent_coef * entropy
                self.optimizer.zero_grad()
                loss.backward()
                if spec.max_grad_norm > 0:
                    nn.utils.clip_grad_norm_(self.actor_critic.parameters(), spec.max_grad_norm)
                self.optimizer.step()
        return value_loss.item()

    def train(self):
        for _ in range(math.ceil(self.spec.total_steps / self.spec.rollout_steps)):
            *rollout, reward = self.collect()
            value_loss = self.update(*rollout)
        print(f"mean reward {reward:.3f}, value loss {value_loss:.3f}")


PpoTrainer(RLTrainSpec()).train()
