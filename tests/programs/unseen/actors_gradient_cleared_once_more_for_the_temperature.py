"""Soft actor-critic with a learned temperature: before the temperature's loss it is the actor's optimizer that clears,
so the temperature's gradients of all updates add up.

Round 29
Class: the line
"""

import copy
from itertools import pairwise

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal


def make_mlp(sizes):
    parts = []
    for n_in, n_out in pairwise(sizes):
        parts += [nn.Linear(n_in, n_out), nn.SiLU()]
    return nn.Sequential(*parts[:-1])


class Glider:
    """Keeps a heading in a gusty wind; lost when it turns too far."""

    def reset(self):
        self.heading = 0.5 * torch.randn(3)
        return self.heading.clone()

    def step(self, rudder):
        turn = torch.cat([rudder, rudder.mean(0, keepdim=True)])
        self.heading = 0.95 * self.heading + 0.2 * turn + 0.1 * torch.randn(3)
        lost = self.heading.abs().max().item() > 2.0
        return self.heading.clone(), 1.0 - self.heading.pow(2).sum().item(), lost


class SAC:
    gamma, tau, target_entropy = 0.97, 0.01, -2.0

    def __init__(self):
        self.pi = make_mlp([3, 48, 4])
        self.q = nn.ModuleList(make_mlp([5, 48, 1]) for _ in range(2))
        self.q_slow = copy.deepcopy(self.q).requires_grad_(False)
        self.log_alpha = nn.Parameter(torch.tensor(-1.0))
        self.pi_opt = torch.optim.Adam(self.pi.parameters(), 1e-3)
        self.q_opt = torch.optim.Adam(self.q.parameters(), 1e-3)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], 1e-3)

    def sample(self, obs):
        mean, log_std = self.pi(obs).chunk(2, -1)
        dist = Normal(mean, log_std.clamp(-4, 1).exp())
        raw = dist.rsample()
        log_prob = dist.log_prob(raw) - 2 * (0.6931472 - raw - F.softplus(-2 * raw))
        return raw.tanh(), log_prob.sum(-1)

    def values(self, nets, obs, action):
        both = torch.cat([obs, action], -1)
        return torch.stack([net(both).squeeze(-1) for net in nets])

    def update(self, obs, action, reward, after, lost):
        alpha = self.log_alpha.exp().detach()
        with torch.no_grad():
            next_action, next_logp = self.sample(after)
            next_q = self.values(self.q_slow, after, next_action).min(0).values - alpha * next_logp
            target = reward + self.gamma * (1 - lost) * next_q
        q_loss = (self.values(self.q, obs, action) - target).pow(2).mean(1).sum()
        self.q_opt.zero_grad()
        q_loss.backward()
        self.q_opt.step()

        new_action, logp = self.sample(obs)
        pi_loss = (alpha * logp - self.values(self.q, obs, new_action).min(0).values).mean()
        self.pi_opt.zero_grad()
        pi_loss.backward()
        self.pi_opt.step()

        alpha_loss = -(self.log_alpha.exp() * (logp.detach() + self.target_entropy)).mean()
        self.pi_opt.zero_grad()  # BUG GS401
        alpha_loss.backward()  # BUG GS401
        self.alpha_opt.step()  # BUG GS401
        with torch.no_grad():
            for slow, fast in zip(self.q_slow.parameters(), self.q.parameters()):
                slow.lerp_(fast, self.tau)


torch.manual_seed(2910)
env, agent, memory = Glider(), SAC(), []
obs = env.reset()
for step in range(260):
    with torch.no_grad():
        action = agent.sample(obs)[0]
    after, reward, lost = env.step(action)
    memory.append((obs, action, torch.tensor(reward), after, torch.tensor(float(lost))))
    obs = env.reset() if lost else after
    if step >= 100:
        picks = torch.randint(len(memory), (48,)).tolist()
        agent.update(*(torch.stack(column) for column in zip(*(memory[i] for i in picks))))
