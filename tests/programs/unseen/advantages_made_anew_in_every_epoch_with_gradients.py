"""Proximal policy optimisation that recomputes its advantages in every epoch: the critic is asked with gradients on,
so that the policy's loss trains the critic by way of the advantage.

Round 29
Class: meaning
"""

from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Normal


@dataclass
class Config:
    steps: int = 24
    envs: int = 8
    epochs: int = 4
    gamma: float = 0.97
    lam: float = 0.9
    clip: float = 0.2


class Springs:
    """A point on a spring that is to be held at zero; it never ends."""

    def __init__(self, n):
        self.x = torch.randn(n, 2)

    def step(self, push):
        force = push.clamp(-2, 2).squeeze(-1)
        speed = 0.9 * self.x[:, 1] + 0.3 * force - 0.1 * self.x[:, 0] + 0.1 * torch.randn(len(force))
        self.x = torch.stack([self.x[:, 0] + 0.2 * speed, speed], dim=-1)
        return self.x, -0.1 * (self.x[:, 0].abs() + 0.05 * force.pow(2))


cfg = Config()
torch.manual_seed(2907)
actor = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
log_std = nn.Parameter(torch.zeros(1))
critic = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
params = [*actor.parameters(), log_std, *critic.parameters()]
optimizer = torch.optim.Adam(params, lr=1e-3)


def gae(values, rewards):
    steps, running = [], torch.zeros(cfg.envs)
    for t in reversed(range(cfg.steps)):
        delta = rewards[t] + cfg.gamma * values[t + 1] - values[t]
        running = delta + cfg.gamma * cfg.lam * running
        steps.insert(0, running)
    return torch.stack(steps)


env = Springs(cfg.envs)
obs = env.x
for iteration in range(20):
    seen, acts, olds, rews = [obs], [], [], []
    with torch.no_grad():
        for _ in range(cfg.steps):
            dist = Normal(actor(obs), log_std.exp())
            act = dist.sample()
            acts.append(act)
            olds.append(dist.log_prob(act).sum(-1))
            obs, rew = env.step(act)
            seen.append(obs)
            rews.append(rew)
    seen, acts, olds, rews = map(torch.stack, (seen, acts, olds, rews))
    for epoch in range(cfg.epochs):
        values = critic(seen).squeeze(-1)  # BUG GS303 GS304
        advantages = gae(values, rews)  # BUG GS303 GS304
        returns = (advantages + values[:-1]).detach()
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)  # BUG GS303 GS304
        logp = Normal(actor(seen[:-1]), log_std.exp()).log_prob(acts).sum(-1)
        ratio = (logp - olds).exp()
        clipped = ratio.clamp(1 - cfg.clip, 1 + cfg.clip)
        pi_loss = -torch.min(ratio * advantages, clipped * advantages).mean()  # BUG GS303 GS304
        v_loss = (critic(seen[:-1]).squeeze(-1) - returns).pow(2).mean()
        optimizer.zero_grad()
        (pi_loss + 0.5 * v_loss).backward()
        nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()
