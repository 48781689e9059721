"""A wrapper normalises observations by running moments; the learner normalises the raw rollout again after the
moments have moved: the first ratio is not one.

Round 22
Class: meaning
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal


class RunningMoments:
    def __init__(self, size):
        self.mean, self.var, self.count = np.zeros(size), np.ones(size), 1e-2

    def update(self, x):
        total = self.count + len(x)
        delta = x.mean(0) - self.mean
        self.var = (
            self.var * self.count + x.var(0) * len(x) + delta**2 * self.count * len(x) / total
        ) / total
        self.mean = self.mean + delta * len(x) / total
        self.count = total

    def __call__(self, x):
        return torch.as_tensor((x - self.mean) / np.sqrt(self.var + 1e-6), dtype=torch.float32)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
        self.v = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.full((1,), -0.5))

    def forward(self, x):
        return Normal(self.mu(x), self.log_std.exp()), self.v(x).squeeze(-1)


def rollout(env, raw, policy, moments, length=96):
    seen = {"raw": [], "action": [], "logp": [], "value": [], "reward": []}
    for _ in range(length):
        with torch.no_grad():
            dist, value = policy(moments(raw))
        action = dist.sample()
        following, reward, _, _, _ = env.step(action.clamp(-2, 2).numpy())
        row = raw, action, dist.log_prob(action).sum(-1), value, reward / 8  # BUG GS803
        for key, item in zip(seen, row):
            seen[key].append(item)
        raw = following
    return seen, raw


def estimate(rewards, values, last, gamma=0.95, lam=0.9):
    advantages, running = np.zeros(len(rewards), np.float32), 0.0
    values = [*values, last]
    for t in reversed(range(len(rewards))):
        running = rewards[t] + gamma * values[t + 1] - values[t] + gamma * lam * running
        advantages[t] = running
    return torch.from_numpy(advantages)


torch.manual_seed(2223)
env, policy, moments = gym.make("Pendulum-v1", max_episode_steps=10_000), Policy(), RunningMoments(3)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
raw, _ = env.reset(seed=2223)
for iteration in range(10):
    seen, raw = rollout(env, raw, policy, moments)
    observations = np.stack(seen["raw"])
    with torch.no_grad():
        last = policy(moments(raw))[1].item()
    moments.update(observations)  # BUG GS803
    x = moments(observations)  # BUG GS803
    actions, old = torch.stack(seen["action"]), torch.stack(seen["logp"])
    values = torch.stack(seen["value"])
    advantages = estimate(seen["reward"], values.tolist(), last)
    targets = advantages + values
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
    for _ in range(4):
        dist, v = policy(x)
        ratio = torch.exp(dist.log_prob(actions).sum(-1) - old)
        gain = torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
        loss = -gain + 0.5 * nn.functional.mse_loss(v, targets) - 1e-3 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
        optimizer.step()
    print(iteration, round(sum(seen["reward"]), 2))
