"""SAC's temperature, in four ways that are all right: the sign of the derivative is the same in each."""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
target_entropy = -2.0


def by_log(log_alpha, log_prob):
    return -(log_alpha * (log_prob + target_entropy).detach()).mean()


def by_value(log_alpha, log_prob):
    return (-log_alpha.exp() * (log_prob.detach() + target_entropy)).mean()


def by_entropy(log_alpha, log_prob):
    entropy = -log_prob.detach().mean()
    return log_alpha * (entropy - target_entropy)


def under_no_grad(log_alpha, log_prob):
    with torch.no_grad():
        excess = -log_prob - target_entropy
    return (log_alpha * excess).mean()


for temperature_loss in (by_log, by_value, by_entropy, under_no_grad):
    actor, q = nn.Linear(3, 4), nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
    log_alpha = torch.zeros(1, requires_grad=True)
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
    q_optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
    alpha_optimizer = torch.optim.Adam([log_alpha], lr=1e-3)
    for _ in range(13):
        obs, action, reward = torch.randn(16, 3), torch.randn(16, 2), torch.randn(16, 1)
        q_loss = (q(torch.cat([obs, action], -1)) - reward).pow(2).mean()
        q_optimizer.zero_grad()
        q_loss.backward()
        q_optimizer.step()
        mean, log_std = actor(obs).chunk(2, -1)
        dist = Normal(mean, log_std.clamp(-5, 2).exp())
        raw = dist.rsample()
        squashed = raw.tanh()
        log_prob = (dist.log_prob(raw) - (1 - squashed.pow(2) + 1e-6).log()).sum(-1, keepdim=True)
        actor_loss = (log_alpha.exp().detach() * log_prob - q(torch.cat([obs, squashed], -1))).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
        alpha_loss = temperature_loss(log_alpha, log_prob)
        alpha_optimizer.zero_grad()
        alpha_loss.backward()
        alpha_optimizer.step()
