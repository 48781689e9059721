"""A natural-looking policy search in which the entropy's coefficient has no effect, whatever it is: the entropy is made of
the spreads that the sampler wrote down, not of those that the policy would give now.

Round 20
Class: zero in part
"""

import math

import numpy as np
import torch
from torch import nn


class GaussianMLPPolicy(nn.Module):
    """Mean and log-std are both networks of the observation."""

    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.mean_network = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, act_dim))
        self.std_network = nn.Sequential(nn.Linear(obs_dim, 16), nn.Tanh(), nn.Linear(16, act_dim))

    def dist_info(self, obs):
        return {"mean": self.mean_network(obs), "log_std": self.std_network(obs).clamp(-3, 1)}


class DiagonalGaussian:
    @staticmethod
    def log_likelihood(x, info):
        z = (x - info["mean"]) / info["log_std"].exp()
        return (-0.5 * z.pow(2) - info["log_std"] - 0.5 * math.log(2 * math.pi)).sum(-1)

    @staticmethod
    def entropy(info):
        return (info["log_std"] + 0.5 * math.log(2 * math.pi * math.e)).sum(-1)

    @staticmethod
    def kl(old, new):
        spread = (old["log_std"].exp().pow(2) + (old["mean"] - new["mean"]).pow(2)) / new[
            "log_std"
        ].exp().pow(2)
        return (new["log_std"] - old["log_std"] + 0.5 * spread - 0.5).sum(-1)


class LinearFeatureBaseline:
    def __init__(self):
        self.coeffs = None

    def features(self, obs):
        return np.concatenate([obs, obs**2, np.ones((len(obs), 1))], axis=1)

    def fit(self, obs, returns):
        f = self.features(obs)
        self.coeffs = np.linalg.solve(f.T @ f + 1e-3 * np.eye(f.shape[1]), f.T @ returns)

    def predict(self, obs):
        return np.zeros(len(obs)) if self.coeffs is None else self.features(obs) @ self.coeffs


class Sampler:
    """Short flights of a kite: five steps, line length and angle, two reels."""

    def __init__(self, policy, rng, n_paths=20, steps=5):
        self.policy, self.rng, self.n_paths, self.steps = policy, rng, n_paths, steps

    @torch.no_grad()
    def obtain_samples(self):
        state = self.rng.normal(size=(self.n_paths, 2))
        rows, rewards = [], []
        for t in range(self.steps):
            obs = np.concatenate([state, np.full((self.n_paths, 1), t / self.steps)], axis=1)
            info = self.policy.dist_info(torch.as_tensor(obs, dtype=torch.float32))
            action = info["mean"] + info["log_std"].exp() * torch.randn_like(info["mean"])
            rows.append((obs, action, info))
            state = state + 0.4 * np.clip(action.numpy(), -2, 2) + 0.05 * self.rng.normal(size=state.shape)
            rewards.append(-np.abs(state - np.array([1.0, -0.5])).sum(1))
        returns = np.cumsum(np.stack(rewards)[::-1], axis=0)[::-1]
        return {
            "observations": np.concatenate([r[0] for r in rows]),
            "actions": torch.cat([r[1] for r in rows]),
            "agent_infos": {k: torch.cat([r[2][k] for r in rows]) for k in ("mean", "log_std")},
            "returns": returns.reshape(-1).copy(),
        }


class NPO:
    def __init__(self, policy, baseline, policy_ent_coeff=0.05, kl_coeff=1.0, inner=3, lr=5e-3):
        self.policy, self.baseline, self.dist = policy, baseline, DiagonalGaussian()
        self.policy_ent_coeff, self.kl_coeff, self.inner = policy_ent_coeff, kl_coeff, inner
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=lr)

    def optimize_policy(self, samples):
        advantages = samples["returns"] - self.baseline.predict(samples["observations"])
        self.baseline.fit(samples["observations"], samples["returns"])
        adv = torch.as_tensor(advantages, dtype=torch.float32)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        obs = torch.as_tensor(samples["observations"], dtype=torch.float32)
        old, actions = samples["agent_infos"], samples["actions"]
        for _ in range(self.inner):
            new = self.policy.dist_info(obs)
            lr = (self.dist.log_likelihood(actions, new) - self.dist.log_likelihood(actions, old)).exp()
            policy_entropy = self.dist.entropy(samples["agent_infos"]).mean()  # BUG GS202
            surrogate = (lr * adv).mean() + self.policy_ent_coeff * policy_entropy
            loss = -surrogate + self.kl_coeff * self.dist.kl(old, new).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return policy_entropy.item()


torch.manual_seed(2014)
policy = GaussianMLPPolicy(3, 2)
sampler = Sampler(policy, np.random.default_rng(2014))
algo = NPO(policy, LinearFeatureBaseline())
for epoch in range(25):
    samples = sampler.obtain_samples()
    entropy = algo.optimize_policy(samples)
print("mean return", samples["returns"].mean().round(3), "entropy", round(entropy, 3))
