"""A squashed policy scores its own samples from the value in front of the squashing; actions that come back from the
rollout are limited to the open interval and go through the inverse.

Round 16
Class: meaning
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(1601)
rng = np.random.default_rng(1601)
ENVS, STEPS, OBS, ACT = 8, 24, 4, 2
GAMMA, LAM, CLIP = 0.97, 0.95, 0.2


def unsquash(action, eps=1e-6):
    limit = 1.0 - eps
    return action.clamp(-limit, limit).atanh()


class SquashedNormal:
    """A Normal behind a tanh."""

    def __init__(self, loc, scale):
        self.base = Normal(loc, scale)

    def sample(self):
        raw = self.base.sample()
        return torch.tanh(raw), self._score(raw)

    def log_prob(self, action):
        return self._score(unsquash(action))

    def entropy(self):
        return self.base.entropy().sum(-1)

    def _score(self, raw):
        slope = 1 - torch.tanh(raw).pow(2)
        return (self.base.log_prob(raw) - torch.log(slope + 1e-6)).sum(-1)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, 48), nn.Tanh())
        self.loc, self.log_scale = nn.Linear(48, ACT), nn.Parameter(torch.full((ACT,), -0.7))

    def forward(self, obs):
        return SquashedNormal(self.loc(self.body(obs)), self.log_scale.exp().expand(len(obs), ACT))


class Carts:
    """Carts that are pushed to the middle; one that leaves the track starts again."""

    def __init__(self):
        self.state = rng.normal(size=(ENVS, OBS)).astype(np.float32)

    def step(self, action):
        self.state[:, :ACT] += 0.2 * self.state[:, ACT:]
        self.state[:, ACT:] = 0.9 * self.state[:, ACT:] + 0.3 * action
        reward = -np.abs(self.state[:, :ACT]).mean(1)
        done = np.abs(self.state[:, :ACT]).max(1) > 2.5
        self.state[done] = rng.normal(size=(int(done.sum()), OBS)).astype(np.float32)
        return self.state.copy(), reward.astype(np.float32), done.astype(np.float32)


def collect(env, policy, critic, obs):
    rollout = {key: [] for key in ("obs", "action", "score", "reward", "done")}
    for _ in range(STEPS):
        with torch.no_grad():
            action, score = policy(obs).sample()
        after, reward, done = env.step(action.numpy())
        for key, value in zip(rollout, (obs, action, score, torch.tensor(reward), torch.tensor(done))):
            rollout[key].append(value)
        obs = torch.from_numpy(after)
    data = {key: torch.stack(values) for key, values in rollout.items()}
    with torch.no_grad():
        values = critic(torch.cat([data["obs"], obs[None]])).squeeze(-1)
    data["advantage"], carry = torch.zeros(STEPS, ENVS), torch.zeros(ENVS)
    for t in reversed(range(STEPS)):
        goes_on = 1 - data["done"][t]
        delta = data["reward"][t] + GAMMA * goes_on * values[t + 1] - values[t]
        carry = delta + GAMMA * LAM * goes_on * carry
        data["advantage"][t] = carry
    data["returns"] = data["advantage"] + values[:-1]
    return {key: value.flatten(0, 1) for key, value in data.items()}, obs


policy = Policy()
critic = nn.Sequential(nn.Linear(OBS, 48), nn.Tanh(), nn.Linear(48, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=1e-3)
env = Carts()
obs = torch.from_numpy(env.state.copy())
for iteration in range(12):
    data, obs = collect(env, policy, critic, obs)
    for rows in torch.randperm(ENVS * STEPS).repeat(3).split(64):
        part = {key: value[rows] for key, value in data.items()}
        gain = (part["advantage"] - part["advantage"].mean()) / (part["advantage"].std() + 1e-8)
        dist = policy(part["obs"])
        ratio = (dist.log_prob(part["action"]) - part["score"]).exp()
        surrogate = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
        value_loss = (critic(part["obs"]).squeeze(-1) - part["returns"]).pow(2).mean()
        loss = -surrogate + 0.5 * value_loss - 0.001 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([*policy.parameters(), *critic.parameters()], 0.5)
        optimizer.step()
    print(iteration, value_loss.item(), data["reward"].mean().item())
