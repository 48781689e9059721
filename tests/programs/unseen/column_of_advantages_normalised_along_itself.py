"""Proximal policy optimisation of a pendulum with NumPy columns: the advantages are a column, and mean and
deviation are taken over its last axis, which has one element. All advantages become zero and only the entropy
trains the actor. After tensorflow/agents#651 (advantages normalised over an axis of one).

Round 26
Class: meaning
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal


class GaussianPolicy(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.mu = nn.Sequential(nn.Linear(n_obs, 32), nn.Tanh(), nn.Linear(32, n_act))
        self.log_std = nn.Parameter(torch.zeros(n_act))

    def forward(self, obs):
        return Normal(self.mu(obs), self.log_std.exp())


class PPO:
    gamma, lam, clip, entropy_coef, epochs = 0.95, 0.9, 0.2, 0.005, 4

    def __init__(self, env):
        self.env = env
        n_obs = env.observation_space.shape[0]
        self.policy = GaussianPolicy(n_obs, env.action_space.shape[0])
        self.value = nn.Sequential(nn.Linear(n_obs, 32), nn.Tanh(), nn.Linear(32, 1))
        self.policy_opt = torch.optim.Adam(self.policy.parameters(), lr=3e-3)
        self.value_opt = torch.optim.Adam(self.value.parameters(), lr=5e-3)
        self.obs, _ = env.reset(seed=2629)

    @torch.no_grad()
    def collect(self, steps):
        rows = {name: [] for name in ("obs", "act", "logp", "rew", "next_obs", "terminated", "done")}
        for _ in range(steps):
            dist = self.policy(torch.from_numpy(self.obs))
            action = dist.sample()
            next_obs, reward, terminated, truncated, _ = self.env.step(action.clamp(-2, 2).numpy())
            values = (self.obs, action, dist.log_prob(action), [reward / 10], next_obs, [terminated])
            for name, value in zip(rows, values):
                rows[name].append(np.asarray(value, dtype=np.float32))
            rows["done"].append(np.float32([terminated or truncated]))
            self.obs = self.env.reset()[0] if terminated or truncated else next_obs
        return {name: np.stack(column) for name, column in rows.items()}

    @torch.no_grad()
    def estimate(self, rows):
        values = self.value(torch.from_numpy(rows["obs"])).numpy()
        following = self.value(torch.from_numpy(rows["next_obs"])).numpy()
        deltas = rows["rew"] + self.gamma * (1 - rows["terminated"]) * following - values
        advantages, carry = np.zeros_like(deltas), 0.0
        for t in reversed(range(len(deltas))):
            carry = deltas[t] + self.gamma * self.lam * (1 - rows["done"][t]) * carry
            advantages[t] = carry
        return advantages, advantages + values

    @staticmethod
    def normalise(advantages):
        mean = advantages.mean(axis=-1, keepdims=True)  # BUG GS807 GS604
        std = advantages.std(axis=-1, keepdims=True)  # BUG GS807 GS604
        return (advantages - mean) / (std + 1e-8)  # BUG GS807 GS604

    def update(self, steps=200):
        rows = self.collect(steps)
        advantages, returns = self.estimate(rows)
        weights = torch.from_numpy(self.normalise(advantages))
        obs, act, old = (torch.from_numpy(rows[name]) for name in ("obs", "act", "logp"))
        targets = torch.from_numpy(returns)
        for _ in range(self.epochs):
            dist = self.policy(obs)
            ratio = (dist.log_prob(act) - old).exp()
            surrogate = torch.min(ratio * weights, ratio.clamp(1 - self.clip, 1 + self.clip) * weights)
            policy_loss = -surrogate.mean() - self.entropy_coef * dist.entropy().mean()
            self.policy_opt.zero_grad()
            policy_loss.backward()
            self.policy_opt.step()
            value_loss = nn.functional.mse_loss(self.value(obs), targets)
            self.value_opt.zero_grad()
            value_loss.backward()
            self.value_opt.step()
        return rows["rew"].mean()


torch.manual_seed(2629)
agent = PPO(gym.make("Pendulum-v1"))
for iteration in range(8):
    print(iteration, round(float(agent.update()), 4))
