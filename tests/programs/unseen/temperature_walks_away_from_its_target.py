"""Soft actor-critic with a learned temperature steers a boat against a current. The temperature's loss has
lost its minus, so the temperature rises while the entropy is above its target and falls while it is below.

Round 32
Class: meaning
"""

import copy
import math
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

config = {"gamma": 0.95, "tau": 0.02, "lr": 2e-3, "batch": 64, "start": 100, "steps": 500, "every": 4}


class River:
    """Hold the boat at the buoy. The river flows forever; the crew is changed every forty steps."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.pos, self.flow = self.rng.uniform(-1, 1, 2), self.rng.uniform(-0.5, 0.5, 2)
        return self.look()

    def look(self):
        return np.concatenate([self.pos, self.flow]).astype(np.float32)

    def step(self, rudder):
        self.pos = np.clip(self.pos + 0.2 * rudder + 0.1 * self.flow, -2, 2)
        self.flow = np.clip(self.flow + self.rng.normal(0, 0.05, 2), -0.5, 0.5)
        return self.look(), -float(np.abs(self.pos).sum())


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 48), nn.Tanh(), nn.Linear(48, n_out))


class SAC:
    def __init__(self, obs_dim=4, act_dim=2):
        self.actor = mlp(obs_dim, 2 * act_dim)
        self.critics = nn.ModuleList([mlp(obs_dim + act_dim, 1) for _ in range(2)])
        self.targets = copy.deepcopy(self.critics).requires_grad_(False)
        self.log_alpha = torch.tensor(math.log(0.1), requires_grad=True)
        self.target_entropy = -float(act_dim)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=config["lr"])
        self.critic_opt = torch.optim.Adam(self.critics.parameters(), lr=config["lr"])
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=1e-2)

    def sample(self, obs):
        mean, log_std = self.actor(obs).chunk(2, dim=-1)
        normal = Normal(mean, log_std.clamp(-5, 2).exp())
        raw = normal.rsample()
        log_prob = normal.log_prob(raw) - 2 * (math.log(2) - raw - F.softplus(-2 * raw))
        return torch.tanh(raw), log_prob.sum(dim=-1, keepdim=True)

    def min_q(self, critics, obs, act):
        x = torch.cat([obs, act], dim=-1)
        return torch.min(critics[0](x), critics[1](x))

    def train(self, obs, act, rew, obs2):
        alpha = self.log_alpha.exp().detach()
        with torch.no_grad():
            act2, log_prob2 = self.sample(obs2)
            soft_value = self.min_q(self.targets, obs2, act2) - alpha * log_prob2
            target = rew + config["gamma"] * soft_value
        x = torch.cat([obs, act], dim=-1)
        critic_loss = sum(F.mse_loss(critic(x), target) for critic in self.critics)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        new_act, log_prob = self.sample(obs)
        actor_loss = (alpha * log_prob - self.min_q(self.critics, obs, new_act)).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        alpha_loss = (self.log_alpha * (log_prob + self.target_entropy).detach()).mean()  # BUG GS802
        self.alpha_opt.zero_grad()
        alpha_loss.backward()
        self.alpha_opt.step()

        with torch.no_grad():
            for p, t in zip(self.critics.parameters(), self.targets.parameters()):
                t.mul_(1 - config["tau"]).add_(config["tau"] * p)
        return -log_prob.mean().item()


def main():
    random.seed(6)
    torch.manual_seed(6)
    env, agent, replay = River(6), SAC(), []
    obs = env.reset()
    for step in range(config["steps"]):
        with torch.no_grad():
            act = agent.sample(torch.from_numpy(obs))[0].numpy()
        obs2, rew = env.step(act)
        replay.append((obs, act, np.float32([rew]), obs2))
        obs = env.reset() if step % 40 == 39 else obs2
        if step >= config["start"] and step % config["every"] == 0:
            columns = zip(*random.sample(replay, config["batch"]))
            entropy = agent.train(*(torch.from_numpy(np.stack(column)) for column in columns))
            if step % 100 == 0:
                print(f"step {step}: entropy {entropy:.2f} alpha {agent.log_alpha.exp().item():.3f}")


if __name__ == "__main__":
    main()
