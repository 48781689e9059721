"""Proximal policy optimisation with clipped values. The old values, around which the new ones are clipped, are asked of the
critic in every minibatch once more: old and new are always the same number, and nothing is ever clipped.

Round 20
Class: meaning
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal


class Boat:
    """Steers along a river; the current pushes to the side."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.x, self.v, self.t = self.rng.uniform(-1, 1), 0.0, 0
        return self.observe()

    def observe(self):
        return np.array([self.x, self.v, self.t / 20.0], dtype=np.float32)

    def step(self, action):
        push = float(np.clip(action, -1.0, 1.0))
        self.v = 0.7 * self.v + 0.3 * push + 0.05 * self.rng.normal()
        self.x += self.v
        self.t += 1
        aground = abs(self.x) > 2.0
        reward = -5.0 if aground else 1.0 - self.x**2
        return self.observe(), reward, aground, self.t >= 20


class Rollout:
    def __init__(self, size, obs_dim):
        self.obs = torch.zeros(size, obs_dim)
        self.actions, self.logp = torch.zeros(size), torch.zeros(size)
        self.values, self.next_values = torch.zeros(size), torch.zeros(size)
        self.rewards, self.ends, self.cuts = torch.zeros(size), torch.zeros(size), torch.zeros(size)

    def advantages(self, gamma=0.98, lam=0.95):
        adv, last = torch.zeros_like(self.rewards), 0.0
        for t in reversed(range(len(adv))):
            delta = self.rewards[t] + gamma * (1 - self.ends[t]) * self.next_values[t] - self.values[t]
            last = delta + gamma * lam * (1 - self.ends[t]) * (1 - self.cuts[t]) * last
            adv[t] = last
        return adv


class PPO:
    def __init__(self, env, obs_dim=3, steps=128, epochs=4, minibatches=4, value_clip=1.0):
        self.env, self.steps, self.epochs, self.minibatches = env, steps, epochs, minibatches
        self.value_clip = value_clip
        self.policy = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.full((1,), -0.5))
        self.critic = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, 1))
        params = [*self.policy.parameters(), self.log_std, *self.critic.parameters()]
        self.optimizer = torch.optim.Adam(params, lr=3e-3)
        self.obs = torch.from_numpy(env.reset())

    def dist(self, obs):
        return Normal(self.policy(obs).squeeze(-1), self.log_std.exp())

    def value(self, obs):
        return self.critic(obs).squeeze(-1)

    @torch.no_grad()
    def collect(self):
        batch = Rollout(self.steps, 3)
        for t in range(self.steps):
            dist = self.dist(self.obs)
            action = dist.sample()
            batch.obs[t], batch.actions[t] = self.obs, action.squeeze()
            batch.logp[t], batch.values[t] = dist.log_prob(action).squeeze(), self.value(self.obs)
            nxt, batch.rewards[t], end, cut = self.env.step(action.item())
            batch.ends[t], batch.cuts[t] = float(end), float(cut)
            batch.next_values[t] = self.value(torch.from_numpy(nxt))
            self.obs = torch.from_numpy(self.env.reset() if end or cut else nxt)
        return batch

    def update(self, batch):
        adv = batch.advantages()
        returns = adv + batch.values
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        for _ in range(self.epochs):
            for idx in torch.randperm(self.steps).chunk(self.minibatches):
                ratio = (self.dist(batch.obs[idx]).log_prob(batch.actions[idx]) - batch.logp[idx]).exp()
                surrogate = torch.min(ratio * adv[idx], ratio.clamp(0.8, 1.2) * adv[idx])
                new = self.value(batch.obs[idx])
                old = self.value(batch.obs[idx]).detach()  # BUG GS804
                clipped = old + (new - old).clamp(-self.value_clip, self.value_clip)
                errors = torch.max((new - returns[idx]).pow(2), (clipped - returns[idx]).pow(2))
                loss = -surrogate.mean() + 0.5 * errors.mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
        return returns.mean().item()


torch.manual_seed(2003)
agent = PPO(Boat(np.random.default_rng(2003)))
for iteration in range(8):
    mean_return = agent.update(agent.collect())
print("mean return", round(mean_return, 3))
