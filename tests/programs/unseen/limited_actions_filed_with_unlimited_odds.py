"""Proximal policy optimisation of a young dinosaur's gait. The policy draws an action, scores it, and only then
limits it to what the joints can do; it is the limited action that goes into the batch. When it is scored again for
the ratio it has other odds than the one that was drawn, and the ratio is not one before anything has been learned.

Round 21
Class: meaning
"""

import math
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class PPOConfig:
    num_envs: int = 24
    unroll: int = 16
    iterations: int = 40
    epochs: int = 4
    gamma: float = 0.95
    lam: float = 0.9
    clip_eps: float = 0.2
    lr: float = 2e-3


class Walker:
    """Two legs push in turn; speed is rewarded and effort costs. A lesson has sixteen steps, and a clock."""

    obs_size, action_size, horizon = 5, 2, 16

    def __init__(self, num_envs):
        self.num_envs = num_envs

    def reset(self):
        self.speed = 0.3 * torch.randn(self.num_envs)
        self.tilt = 0.3 * torch.randn(self.num_envs)
        self.clock = 0
        return self.observe()

    def observe(self):
        phase = math.pi * self.clock / 2
        time = torch.tensor([math.sin(phase), math.cos(phase), self.clock / self.horizon]).expand(
            self.num_envs, 3
        )
        return torch.cat([self.speed[:, None], self.tilt[:, None], time], -1)

    def step(self, action):
        phase = math.pi * self.clock / 2
        push = math.cos(phase) * action[:, 0] + math.sin(phase) * action[:, 1]
        self.speed = 0.8 * self.speed + 0.3 * push
        self.tilt = 0.9 * self.tilt + 0.2 * (action[:, 0] - action[:, 1])
        self.clock += 1
        reward = self.speed - 0.3 * self.tilt.pow(2) - 0.02 * action.pow(2).sum(-1)
        done = self.clock == self.horizon
        return (self.reset() if done else self.observe()), reward, torch.full((self.num_envs,), float(done))


class ActorCritic(nn.Module):
    def __init__(self, obs_size, action_size):
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(obs_size, 48), nn.Tanh(), nn.Linear(48, action_size))
        self.value = nn.Sequential(nn.Linear(obs_size, 48), nn.Tanh(), nn.Linear(48, 1))
        self.log_std = nn.Parameter(torch.full((action_size,), -0.3))

    def log_prob(self, obs, action):
        dist = torch.distributions.Normal(self.policy(obs), self.log_std.exp())
        return dist.log_prob(action).sum(-1)

    @torch.no_grad()
    def sample_action(self, obs):
        mean = self.policy(obs)
        raw_action = mean + self.log_std.exp() * torch.randn_like(mean)
        log_prob = self.log_prob(obs, raw_action)
        return raw_action.clamp(-1.0, 1.0), log_prob, self.value(obs).squeeze(-1)  # BUG GS803


def collect(env, model, obs, cfg):
    steps = []
    for _ in range(cfg.unroll):
        action, log_prob, value = model.sample_action(obs)  # BUG GS803
        next_obs, reward, done = env.step(action)
        steps.append((obs, action, log_prob, value, reward, done))  # BUG GS803
        obs = next_obs
    return [torch.stack(column) for column in zip(*steps)], obs


def compute_gae(rewards, values, dones, last_value, cfg):
    advantages, gae, after = torch.zeros_like(rewards), 0.0, last_value
    for t in reversed(range(cfg.unroll)):
        delta = rewards[t] + cfg.gamma * (1 - dones[t]) * after - values[t]
        gae = delta + cfg.gamma * cfg.lam * (1 - dones[t]) * gae
        advantages[t], after = gae, values[t]
    return advantages, advantages + values


def train(cfg, seed=408):
    torch.manual_seed(seed)
    env = Walker(cfg.num_envs)
    model = ActorCritic(env.obs_size, env.action_size)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    obs = env.reset()
    for iteration in range(cfg.iterations):
        (states, actions, log_probs, values, rewards, dones), obs = collect(env, model, obs, cfg)
        with torch.no_grad():
            last_value = model.value(obs).squeeze(-1)
        advantages, returns = compute_gae(rewards, values, dones, last_value, cfg)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        for _ in range(cfg.epochs):
            ratio = (model.log_prob(states, actions) - log_probs).exp()  # BUG GS803
            clipped = ratio.clamp(1 - cfg.clip_eps, 1 + cfg.clip_eps)
            policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
            value_loss = (model.value(states).squeeze(-1) - returns).pow(2).mean()
            optimizer.zero_grad()
            (policy_loss + 0.5 * value_loss).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        if iteration % 10 == 9:
            print(f"iteration {iteration + 1}: reward {rewards.mean():.3f}")


train(PPOConfig())
