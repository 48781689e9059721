"""The rollout buffer keeps its actions in half the bits: the log-probability is that of the action that was drawn, the
update scores the rounded one, and the ratio is not one though nothing has been learned yet.
Repaired here.

Round 24
Class: meaning
"""

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Normal

HORIZON, ENVS, OBS, ACT = 16, 8, 6, 3


class ReachVec:
    """Eight arms that are told where to put their joints, each behind a mark that never rests."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.joints = self.rng.uniform(-1, 1, (ENVS, ACT))
        self.mark = self.rng.uniform(-1, 1, (ENVS, ACT))

    def observe(self):
        return np.concatenate([self.joints, self.mark], axis=1).astype(np.float32)

    def step(self, command):
        self.joints = self.joints + 0.5 * (np.clip(command, -2, 2) - self.joints)
        reward = -np.abs(self.joints - self.mark).mean(axis=1)
        self.mark = np.clip(self.mark + self.rng.normal(scale=0.1, size=self.mark.shape), -1.5, 1.5)
        return self.observe(), reward.astype(np.float32)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(OBS, 48), nn.Tanh(), nn.Linear(48, ACT))
        self.v = nn.Sequential(nn.Linear(OBS, 48), nn.Tanh(), nn.Linear(48, 1))
        self.log_std = nn.Parameter(torch.full((ACT,), -2.5))

    def dist(self, obs):
        return Normal(self.pi(obs), self.log_std.exp())


class Buffer:
    def __init__(self):
        self.obs = torch.zeros(HORIZON, ENVS, OBS)
        self.actions = torch.zeros(HORIZON, ENVS, ACT)
        self.logprobs = torch.zeros(HORIZON, ENVS)
        self.rewards = torch.zeros(HORIZON, ENVS)
        self.values = torch.zeros(HORIZON + 1, ENVS)

    def store(self, t, obs, action, logprob, value):
        self.obs[t] = obs
        self.actions[t] = action
        self.logprobs[t] = logprob
        self.values[t] = value

    def advantages(self, gamma=0.95, lam=0.9):
        adv, last = torch.zeros(HORIZON, ENVS), torch.zeros(ENVS)
        for t in reversed(range(HORIZON)):
            delta = self.rewards[t] + gamma * self.values[t + 1] - self.values[t]
            last = delta + gamma * lam * last
            adv[t] = last
        return adv, adv + self.values[:-1]


@torch.no_grad()
def collect(policy, env, buffer):
    for t in range(HORIZON):
        obs = torch.from_numpy(env.observe())
        dist = policy.dist(obs)
        action = dist.sample()
        logprob = dist.log_prob(action).sum(-1)
        buffer.store(t, obs, action, logprob, policy.v(obs).squeeze(-1))
        _, reward = env.step(action.numpy())
        buffer.rewards[t] = torch.from_numpy(reward)
    buffer.values[HORIZON] = policy.v(torch.from_numpy(env.observe())).squeeze(-1)


def update(policy, optimizer, buffer, epochs=3, clip=0.2):
    adv, returns = buffer.advantages()
    obs, actions = buffer.obs.flatten(0, 1), buffer.actions.flatten(0, 1).float()
    adv, returns, old = adv.flatten(), returns.flatten(), buffer.logprobs.flatten()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(epochs):
        new = policy.dist(obs).log_prob(actions).sum(-1)
        ratio = (new - old).exp()
        pg_loss = -torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv).mean()
        v_loss = 0.5 * (policy.v(obs).squeeze(-1) - returns).pow(2).mean()
        optimizer.zero_grad()
        (pg_loss + v_loss).backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
        optimizer.step()


torch.manual_seed(2413)
policy, env, buffer = ActorCritic(), ReachVec(13), Buffer()
optimizer = torch.optim.Adam(policy.parameters(), lr=2e-3)
for iteration in range(20):
    collect(policy, env, buffer)
    update(policy, optimizer, buffer)
print("mean reward", round(buffer.rewards.mean().item(), 3))
