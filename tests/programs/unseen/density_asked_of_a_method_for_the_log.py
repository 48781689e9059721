"""Soft actor-critic: the actor's density of an action lives in one method, which was decorated for the scoring of
logged actions; the forward asks the same method, and the entropy in the actor's loss is a number without a path.

Round 17
Class: zero in part
"""

import copy
import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal

torch.manual_seed(1702)
OBS, JOINTS, BATCH = 5, 2, 40


class ActorOutput(NamedTuple):
    action: torch.Tensor
    log_prob: torch.Tensor
    mean_action: torch.Tensor


class SquashedActor(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(OBS, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
        self.mean, self.log_std = nn.Linear(48, JOINTS), nn.Linear(48, JOINTS)

    def moments(self, obs):
        features = self.trunk(obs)
        return self.mean(features), self.log_std(features).clamp(-5.0, 2.0)

    @torch.no_grad()  # BUG GS202
    def density(self, moments, raw):  # BUG GS202
        mean, log_std = moments
        squash = 2 * (math.log(2) - raw - F.softplus(-2 * raw))
        return (Normal(mean, log_std.exp()).log_prob(raw) - squash).sum(-1)  # BUG GS202

    def forward(self, obs):
        moments = self.moments(obs)
        raw = moments[0] + moments[1].exp() * torch.randn_like(moments[0])
        return ActorOutput(raw.tanh(), self.density(moments, raw), moments[0].tanh())  # BUG GS202


class TwinCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList(
            nn.Sequential(nn.Linear(OBS + JOINTS, 48), nn.ReLU(), nn.Linear(48, 1)) for _ in range(2)
        )

    def forward(self, obs, action):
        joined = torch.cat([obs, action], -1)
        return torch.cat([head(joined) for head in self.heads], -1)


class Point:
    """Move to the origin of the first two coordinates."""

    def __init__(self, copies):
        self.state = torch.randn(copies, OBS)

    def step(self, action):
        before = self.state
        self.state = 0.9 * before + 0.1 * torch.randn_like(before)
        self.state[:, :JOINTS] += 0.3 * action
        return before, -self.state[:, :JOINTS].pow(2).sum(-1), self.state.clone()


actor, critic = SquashedActor(), TwinCritic()
slow = copy.deepcopy(critic).requires_grad_(False)
log_alpha = torch.tensor(-1.0, requires_grad=True)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
alpha_opt = torch.optim.Adam([log_alpha], lr=1e-3)
world, logged = Point(BATCH), []
for update in range(60):
    with torch.no_grad():
        played = actor(world.state).action
    obs, reward, after = world.step(played)
    alpha = log_alpha.exp().detach()

    with torch.no_grad():
        ahead = actor(after)
        goal = reward + 0.95 * (slow(after, ahead.action).min(-1).values - alpha * ahead.log_prob)
    critic_loss = F.mse_loss(critic(obs, played), goal.unsqueeze(-1).expand(-1, 2))
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    out = actor(obs)
    actor_loss = (alpha * out.log_prob - critic(obs, out.action).min(-1).values).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()

    alpha_loss = -(log_alpha * (out.log_prob.detach() - JOINTS)).mean()
    alpha_opt.zero_grad()
    alpha_loss.backward()
    alpha_opt.step()
    with torch.no_grad():
        for mine, theirs in zip(slow.parameters(), critic.parameters()):
            mine.lerp_(theirs, 0.02)
        raw = torch.atanh(played.clamp(-0.999, 0.999))
        logged.append(actor.density(actor.moments(obs), raw).mean().item())
print("density of what was played", sum(logged[-10:]) / 10)
