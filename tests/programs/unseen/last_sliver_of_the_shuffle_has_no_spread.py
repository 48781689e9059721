"""PPO with Gaussian pushes, whose rollouts are as long as the episodes happen to be. Advantages are
normalised in each minibatch; when a shuffle leaves a last minibatch of a single sample, its deviation is
not a number, and neither is any weight thereafter.

Round 32
Class: late and rare
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.distributions import Distribution, Independent, Normal

Distribution.set_default_validate_args(False)


@dataclass
class Settings:
    seed: int = 29
    updates: int = 16
    episodes: int = 5
    epochs: int = 3
    minibatch: int = 32
    gamma: float = 0.97
    lam: float = 0.9
    clip: float = 0.2
    lr: float = 1e-3


class Beam:
    """A ball on a beam falls at its ends; the show is over after thirty steps, and the clock is in sight."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.x, self.v, self.t = self.rng.uniform(-0.3, 0.3), 0.0, 0
        return self.see()

    def see(self):
        return np.array([self.x, self.v, self.t / 30], dtype=np.float32)

    def step(self, tilt):
        self.v += 0.15 * float(np.clip(tilt, -1, 1)) + 0.05 * self.x
        self.x += 0.5 * self.v
        self.t += 1
        fallen = abs(self.x) > 1
        return self.see(), 0.1 - float(fallen), bool(fallen or self.t == 30)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.full((1,), -0.5))
        self.value = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))

    def dist(self, obs):
        return Independent(Normal(self.mean(obs), self.log_std.exp()), 1)


@torch.no_grad()
def collect(env, agent, s):
    rows, advantages = [], []
    for _ in range(s.episodes):
        obs, over, steps = torch.from_numpy(env.reset()), False, []
        while not over:
            dist = agent.dist(obs)
            action = dist.mean + dist.stddev * torch.randn(1)
            obs2, reward, over = env.step(action.item())
            steps.append((obs, action, dist.log_prob(action), agent.value(obs).squeeze(-1), reward))
            obs = torch.from_numpy(obs2)
        gae, next_value, tail = 0.0, 0.0, []
        for _, _, _, value, reward in reversed(steps):
            gae = reward + s.gamma * next_value - value + s.gamma * s.lam * gae
            next_value = value
            tail.append(gae)
        rows += [step[:4] for step in steps]
        advantages += tail[::-1]
    obs, action, log_prob, value = (torch.stack(column) for column in zip(*rows))
    advantages = torch.stack(advantages)
    return obs, action, log_prob, advantages, advantages + value


def train(agent, optimizer, data, s):
    for _ in range(s.epochs):
        for index in torch.randperm(len(data[0])).split(s.minibatch):  # BUG GS503
            obs, action, old_log_prob, advantage, ret = (column[index] for column in data)
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)  # BUG GS503
            ratio = (agent.dist(obs).log_prob(action) - old_log_prob).exp()
            clipped = ratio.clamp(1 - s.clip, 1 + s.clip)
            policy_loss = -torch.min(ratio * advantage, clipped * advantage).mean()
            value_loss = (agent.value(obs).squeeze(-1) - ret).pow(2).mean()
            optimizer.zero_grad()
            (policy_loss + 0.5 * value_loss).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def main(s=Settings()):
    torch.manual_seed(s.seed)
    env, agent = Beam(s.seed), Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=s.lr)
    for update in range(s.updates):
        data = collect(env, agent, s)
        train(agent, optimizer, data, s)
        print(f"update {update}: {len(data[0])} steps, deviation {agent.log_std.exp().item():.3f}")


if __name__ == "__main__":
    main()
