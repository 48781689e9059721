"""PPO with a composite action of a gear and a throttle, as a loss module over dictionaries: the log-weight is clamped
head by head, and the clamped ones are summed. After pytorch/rl#2791.
Repaired here.

Round 35
Class: axes
"""

import math
import random

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical, Normal

SEED = 3521


class Hill:
    """Drive a cart up a hill with two gears and a throttle."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.x, self.v, self.t = self.rng.uniform(-0.3, 0.3), 0.0, 0
        return self.observe()

    def observe(self):
        return torch.tensor([self.x, 3.0 * self.v], dtype=torch.float32)

    def step(self, action):
        force = float(action["throttle"].tanh()) * (0.06 if action["gear"].item() == 1 else 0.03)
        self.v = 0.95 * self.v + force - 0.02 * math.sin(2 * self.x)
        self.x += self.v
        self.t += 1
        up = self.x > 1.5
        return self.observe(), 0.5 * self.x + 10.0 * up - 0.1 * abs(force), up, self.t >= 80


class CompositePolicy(nn.Module):
    def __init__(self, n_obs, hidden=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, hidden), nn.Tanh())
        self.gear, self.throttle = nn.Linear(hidden, 2), nn.Linear(hidden, 1)
        self.log_scale = nn.Parameter(torch.tensor(-0.5))

    def dists(self, obs):
        h = self.body(obs)
        loc = self.throttle(h).squeeze(-1)
        return {"gear": Categorical(logits=self.gear(h)), "throttle": Normal(loc, self.log_scale.exp())}

    def sample(self, obs):
        dists = self.dists(obs)
        action = {name: d.sample() for name, d in dists.items()}
        return action, {name: d.log_prob(action[name]) for name, d in dists.items()}


class ClipPPOLoss(nn.Module):
    def __init__(self, actor, critic, clip_epsilon=0.2, entropy_coef=0.01):
        super().__init__()
        self.actor, self.critic, self.entropy_coef = actor, critic, entropy_coef
        self.bounds = (math.log1p(-clip_epsilon), math.log1p(clip_epsilon))

    def _log_weight(self, batch):
        dists = self.actor.dists(batch["observation"])
        heads = [d.log_prob(batch["action"][n]) - batch["log_prob"][n] for n, d in dists.items()]
        return torch.stack(heads, dim=-1), sum(d.entropy() for d in dists.values())

    def forward(self, batch):
        log_weight, entropy = self._log_weight(batch)
        clipped = log_weight.sum(-1).clamp(*self.bounds)
        gain = torch.min(
            log_weight.sum(-1).exp() * batch["advantage"],
            clipped.exp() * batch["advantage"],
        )
        value = self.critic(batch["observation"]).squeeze(-1)
        return {
            "loss_objective": -gain.mean(),
            "loss_entropy": -self.entropy_coef * entropy.mean(),
            "loss_critic": 0.5 * (value - batch["value_target"]).pow(2).mean(),
        }


def collect(env, policy, obs, frames):
    rows = []
    with torch.no_grad():
        for _ in range(frames):
            action, log_prob = policy.sample(obs)
            after, reward, terminated, truncated = env.step(action)
            ended = terminated or truncated
            flags = torch.tensor([reward, float(terminated), float(ended)], dtype=torch.float32)
            rows.append((obs, action, log_prob, after, flags))
            obs = env.reset() if ended else after
    observation, action, log_prob, after, flags = zip(*rows)
    batch = {"observation": torch.stack(observation), "after": torch.stack(after)}
    batch["action"] = {n: torch.stack([a[n] for a in action]) for n in action[0]}
    batch["log_prob"] = {n: torch.stack([p[n] for p in log_prob]) for n in log_prob[0]}
    batch["reward"], batch["terminated"], batch["done"] = torch.stack(flags).unbind(-1)
    return batch, obs


@torch.no_grad()
def add_gae(batch, critic, gamma=0.98, lmbda=0.95):
    value = critic(batch["observation"]).squeeze(-1)
    following = critic(batch["after"]).squeeze(-1) * (1 - batch["terminated"])
    delta = batch["reward"] + gamma * following - value
    advantage, running = torch.zeros_like(delta), 0.0
    for t in range(len(delta) - 1, -1, -1):
        running = delta[t] + gamma * lmbda * (1 - batch["done"][t]) * running
        advantage[t] = running
    batch["value_target"] = advantage + value
    batch["advantage"] = (advantage - advantage.mean()) / advantage.std().clamp(min=1e-6)


def pick(batch, index):
    return {k: pick(v, index) if isinstance(v, dict) else v[index] for k, v in batch.items()}


def main():
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    env, policy = Hill(SEED), CompositePolicy(2)
    critic = nn.Sequential(nn.Linear(2, 48), nn.Tanh(), nn.Linear(48, 1))
    loss_module = ClipPPOLoss(policy, critic)
    optim = torch.optim.Adam(loss_module.parameters(), lr=3e-3)
    obs = env.reset()
    for _ in range(6):
        batch, obs = collect(env, policy, obs, 150)
        add_gae(batch, critic)
        for _ in range(6):
            for index in torch.randperm(150).split(50):
                losses = loss_module(pick(batch, index))
                optim.zero_grad()
                sum(losses.values()).backward()
                nn.utils.clip_grad_norm_(loss_module.parameters(), 1.0)
                optim.step()
    print({k: round(v.item(), 4) for k, v in losses.items()}, "reward", batch["reward"].mean().item())


main()
