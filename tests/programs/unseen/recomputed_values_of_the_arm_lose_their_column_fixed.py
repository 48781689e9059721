"""The repaired twin of a program in which the following goes wrong.
PPO of an arm that acts in chunks: the rollout's values and returns have a column of their own, the values
computed anew for the update have none, and the critic's loss compares every value with every return. After
RLinf/RLinf#1568.

Round 36
Class: axes
"""

import math

import torch
import torch.nn as nn
from torch.distributions import Normal

CONFIG = {
    "seed": 3623,
    "num_envs": 16,
    "horizon": 8,
    "chunk": 3,
    "action_dim": 2,
    "update_epochs": 2,
    "num_minibatches": 4,
    "gamma": 0.95,
    "gae_lambda": 0.9,
    "clip_ratio": 0.2,
    "value_clip": 0.2,
    "value_coef": 0.5,
    "entropy_coef": 1e-3,
    "lr": 1e-3,
    "iterations": 14,
}


class ReachEnv:
    """Many arms with two joints at once; each has a point to touch, and time is up after a fixed number of chunks."""

    def __init__(self, num_envs, max_chunks):
        self.num_envs, self.max_chunks = num_envs, max_chunks

    def reset(self):
        self.joints = torch.rand(self.num_envs, 2) * 2 - 1
        angle = torch.rand(self.num_envs) * math.pi
        self.goal = 1.4 * torch.stack([angle.cos(), angle.sin()], dim=1)
        self.t = 0
        return self.obs()

    def tip(self):
        a, b = self.joints[:, 0], self.joints.sum(dim=1)
        return torch.stack([a.cos() + b.cos(), a.sin() + b.sin()], dim=1)

    def obs(self):
        left = torch.full((self.num_envs, 1), 1.0 - self.t / self.max_chunks)
        return torch.cat([self.joints.sin(), self.joints.cos(), self.goal, left], dim=1)

    def chunk_step(self, actions):
        rewards = torch.zeros(self.num_envs, 1)
        for action in actions.unbind(dim=1):
            before = (self.tip() - self.goal).norm(dim=1, keepdim=True)
            self.joints = self.joints + 0.2 * action.clamp(-1, 1)
            rewards = rewards + before - (self.tip() - self.goal).norm(dim=1, keepdim=True)
        self.t += 1
        return self.obs(), rewards, self.t >= self.max_chunks


class ChunkPolicy(nn.Module):
    def __init__(self, obs_dim, cfg):
        super().__init__()
        self.shape = (cfg["chunk"], cfg["action_dim"])
        n_out = cfg["chunk"] * cfg["action_dim"]
        self.trunk = nn.Sequential(nn.Linear(obs_dim, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.action_head = nn.Linear(64, n_out)
        self.log_std = nn.Parameter(torch.full((n_out,), -0.5))
        self.value_head = nn.Linear(64, 1)

    def distribution(self, features):
        return Normal(self.action_head(features), self.log_std.exp())

    @torch.no_grad()
    def predict_action_batch(self, obs):
        features = self.trunk(obs)
        dist = self.distribution(features)
        flat = dist.sample()
        logprobs = dist.log_prob(flat).sum(dim=-1, keepdim=True)
        return flat.view(-1, *self.shape), logprobs, self.value_head(features)

    def evaluate(self, obs, actions):
        features = self.trunk(obs)
        dist = self.distribution(features)
        logprobs = dist.log_prob(actions.flatten(1)).sum(dim=-1, keepdim=True)
        entropy = dist.entropy().sum(dim=-1).mean()
        return logprobs, self.value_head(features), entropy


def compute_gae(rewards, values, cfg):
    """The time that is left is seen by the critic, and nothing comes after the last chunk."""
    advantages, running, following = torch.zeros_like(rewards), 0.0, torch.zeros_like(values[0])
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + cfg["gamma"] * following - values[t]
        running = delta + cfg["gamma"] * cfg["gae_lambda"] * running
        advantages[t], following = running, values[t]
    return advantages, advantages + values


def actor_loss_fn(logprobs, old_logprobs, advantages, cfg):
    ratio = (logprobs - old_logprobs).exp()
    clipped = ratio.clamp(1 - cfg["clip_ratio"], 1 + cfg["clip_ratio"])
    return -torch.min(ratio * advantages, clipped * advantages).mean()


def critic_loss_fn(values, returns, prev_values, cfg):
    moved = (values - prev_values).clamp(-cfg["value_clip"], cfg["value_clip"])
    value_clipped = prev_values + moved
    loss_plain = (returns - values).pow(2)
    loss_clipped = (returns - value_clipped).pow(2)
    return 0.5 * torch.max(loss_plain, loss_clipped).mean()


def train(cfg):
    torch.manual_seed(cfg["seed"])
    env = ReachEnv(cfg["num_envs"], cfg["horizon"])
    policy = ChunkPolicy(env.reset().shape[1], cfg)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=cfg["lr"])
    for iteration in range(cfg["iterations"]):
        rollout = {k: [] for k in ("obs", "actions", "logprobs", "values", "rewards")}
        obs, over = env.reset(), False
        while not over:
            actions, logprobs, values = policy.predict_action_batch(obs)
            next_obs, rewards, over = env.chunk_step(actions)
            for k, x in zip(rollout, (obs, actions, logprobs, values, rewards)):
                rollout[k].append(x)
            obs = next_obs
        data = {k: torch.stack(v) for k, v in rollout.items()}
        data["advantages"], data["returns"] = compute_gae(data["rewards"], data["values"], cfg)
        advantages = data["advantages"]
        data["advantages"] = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        flat = {k: v.flatten(0, 1) for k, v in data.items()}

        for _ in range(cfg["update_epochs"]):
            for index in torch.randperm(len(flat["obs"])).chunk(cfg["num_minibatches"]):
                batch = {k: v[index] for k, v in flat.items()}
                logprobs, values, entropy = policy.evaluate(batch["obs"], batch["actions"])
                actor_loss = actor_loss_fn(logprobs, batch["logprobs"], batch["advantages"], cfg)
                critic_loss = critic_loss_fn(values, batch["returns"], batch["values"], cfg)
                loss = actor_loss + cfg["value_coef"] * critic_loss - cfg["entropy_coef"] * entropy
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
                optimizer.step()
        if iteration % 5 == 4:
            print(
                f"{iteration + 1}: return {data['rewards'].sum(0).mean():.3f}, critic {critic_loss.item():.4f}"
            )


train(CONFIG)
