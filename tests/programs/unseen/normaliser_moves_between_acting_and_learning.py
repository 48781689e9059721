"""Observations are normalised by running statistics that move at every step of the rollout; the update scores with the last ones.

Round 12
Class: meaning
"""

import torch
from torch import nn
from torch.distributions import Independent, Normal

torch.manual_seed(1219)
ENVS, STEPS = 8, 20


class RunningNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("count", torch.tensor(1.0))
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("var", torch.ones(size))

    @torch.no_grad()
    def update(self, x):
        x = x.reshape(-1, x.shape[-1])
        total, shift = self.count + len(x), x.mean(0) - self.mean
        spread = self.var * self.count + x.var(0, unbiased=False) * len(x)
        self.var = (spread + shift**2 * self.count * len(x) / total) / total
        self.mean = self.mean + shift * len(x) / total
        self.count = total

    def forward(self, x):
        return (x - self.mean) / (self.var + 1e-5).sqrt()


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = RunningNorm(4)
        self.mean = nn.Sequential(nn.Linear(4, 32), nn.ELU(), nn.Linear(32, 2))
        self.value = nn.Sequential(nn.Linear(4, 32), nn.ELU(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.full((2,), -0.5))

    def dist(self, obs):
        return Independent(Normal(self.mean(self.norm(obs)), self.log_std.exp()), 1)

    @torch.no_grad()
    def act(self, obs):
        self.norm.update(obs)  # BUG GS803
        dist = self.dist(obs)
        action = dist.sample()
        return action, dist.log_prob(action), self.value(self.norm(obs)).squeeze(-1)  # BUG GS803


def collect(net, obs):
    rows = []
    for _ in range(STEPS):
        action, logp, value = net.act(obs)
        after = 0.9 * obs + torch.cat([action, 0.5 * action], -1) + torch.randn_like(obs)
        rows.append((obs, action, logp, value, -(after - 4.0).abs().mean(-1)))
        obs = after
    return [torch.stack(x) for x in zip(*rows)], obs


def advantages(net, values, rewards, last):
    with torch.no_grad():
        ahead, carry, out = net.value(net.norm(last)).squeeze(-1), 0.0, []
        for value, reward in zip(values.flip(0), rewards.flip(0)):
            carry = reward + 0.95 * ahead - value + 0.95 * 0.9 * carry
            ahead = value
            out.append(carry)
        return torch.stack(out[::-1])


net = ActorCritic()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
obs = 5.0 + 3.0 * torch.randn(ENVS, 4)
for iteration in range(12):
    (seen, action, old, values, rewards), obs = collect(net, obs)
    gain = advantages(net, values, rewards, obs)
    goal = gain + values
    gain = (gain - gain.mean()) / (gain.std() + 1e-8)
    for epoch in range(4):
        ratio = (net.dist(seen).log_prob(action) - old).exp()
        surrogate = torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
        error = (net.value(net.norm(seen)).squeeze(-1) - goal).pow(2).mean()
        optimizer.zero_grad()
        (0.5 * error - surrogate).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
