"""SAC with a tuned temperature on raw sensor readings: the density takes the value before the squash back out of the
squashed action, through a clamp that a saturated policy never leaves. After ray-project/ray#65036.
Repaired here.

Round 35
Class: zero in part
"""

import math
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SEED = 3510
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


class Crane:
    """Two winches; the readings are cable lengths in feet and the load wants to hang in the middle."""

    def __init__(self):
        self.rng = np.random.default_rng(SEED)

    def reset(self):
        self.cables, self.t = self.rng.uniform(40.0, 200.0, size=2), 0
        return self.cables.astype(np.float32)

    def step(self, action):
        self.t += 1
        self.cables = np.clip(self.cables + 8.0 * action + self.rng.normal(0, 1, 2), 0.0, 240.0)
        reward = 1.0 - float(np.abs(self.cables - 120.0).mean()) / 60.0
        snapped = bool((self.cables <= 0.0).any() or (self.cables >= 240.0).any())
        return self.cables.astype(np.float32), reward - 5.0 * snapped, snapped, self.t >= 60


class SquashedGaussian:
    def __init__(self, mean, log_std):
        self.base = torch.distributions.Normal(mean, log_std.exp())

    def rsample(self):
        self.raw = self.base.rsample()
        return torch.tanh(self.raw)

    def log_prob(self):
        u = self.raw
        slope = 2 * (math.log(2) - u - F.softplus(-2 * u))
        return (self.base.log_prob(u) - slope).sum(-1)


def network(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, n_out))


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = network(2, 4)

    def forward(self, obs):
        mean, log_std = self.net(obs).chunk(2, dim=-1)
        return SquashedGaussian(mean, log_std.clamp(-4, 1))

    def act(self, obs):
        dist = self(obs)
        action = dist.rsample()
        return action, dist.log_prob()


policy = Policy()
critics = nn.ModuleList(network(4, 1) for _ in range(2))
targets = nn.ModuleList(network(4, 1) for _ in range(2))
targets.load_state_dict(critics.state_dict())
log_alpha = torch.zeros((), requires_grad=True)
policy_opt = torch.optim.Adam(policy.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critics.parameters(), lr=1e-3)
alpha_opt = torch.optim.Adam([log_alpha], lr=3e-3)
GAMMA, TAU, TARGET_ENTROPY = 0.97, 0.01, -2.0


def q_min(nets, obs, action):
    x = torch.cat([obs / 120.0 - 1.0, action], dim=-1)
    return torch.min(*(net(x).squeeze(-1) for net in nets))


def update(batch):
    obs, action, reward, nxt, terminated = batch
    alpha = log_alpha.exp().detach()
    with torch.no_grad():
        nxt_action, nxt_logp = policy.act(nxt)
        target = reward + GAMMA * (1 - terminated) * (q_min(targets, nxt, nxt_action) - alpha * nxt_logp)
    x = torch.cat([obs / 120.0 - 1.0, action], dim=-1)
    critic_loss = sum(F.mse_loss(net(x).squeeze(-1), target) for net in critics)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    new_action, logp = policy.act(obs)
    policy_loss = (alpha * logp - q_min(critics, obs, new_action)).mean()
    policy_opt.zero_grad()
    policy_loss.backward()
    policy_opt.step()

    alpha_loss = -(log_alpha * (logp.detach() + TARGET_ENTROPY)).mean()
    alpha_opt.zero_grad()
    alpha_loss.backward()
    alpha_opt.step()
    with torch.no_grad():
        for slow, fast in zip(targets.parameters(), critics.parameters()):
            slow.lerp_(fast, TAU)
    return critic_loss.item(), logp.mean().item()


env, memory = Crane(), []
obs = env.reset()
for step in range(220):
    with torch.no_grad():
        action = policy.act(torch.from_numpy(obs))[0].numpy()
    nxt, reward, terminated, truncated = env.step(action)
    memory.append((obs, action, reward, nxt, float(terminated)))
    obs = env.reset() if terminated or truncated else nxt
    if step >= 120:
        rows = [np.array(c, dtype=np.float32) for c in zip(*random.sample(memory, 64))]
        report = update([torch.from_numpy(r) for r in rows])
print("critic loss and log-prob", report, "alpha", log_alpha.exp().item())
