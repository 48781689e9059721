"""SAC-AE style: the actor sees detached features; encoder and critic share an optimizer."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(12, 16), nn.ReLU())
q = nn.Sequential(nn.Linear(18, 16), nn.ReLU(), nn.Linear(16, 1))
mean, log_std = nn.Linear(16, 2), nn.Linear(16, 2)
target_encoder, target_q = copy.deepcopy(encoder), copy.deepcopy(q)
log_alpha = torch.tensor(0.1).log().requires_grad_()
critic_optimizer = torch.optim.Adam([*encoder.parameters(), *q.parameters()], lr=1e-3)
actor_optimizer = torch.optim.Adam([*mean.parameters(), *log_std.parameters()], lr=1e-3)
alpha_optimizer = torch.optim.Adam([log_alpha], lr=1e-3)


def act(features):
    mu, std = mean(features), log_std(features).clamp(-10, 2).exp()
    raw = torch.distributions.Normal(mu, std).rsample()
    action = torch.tanh(raw)
    log_prob = torch.distributions.Normal(mu, std).log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)
    return action, log_prob.sum(-1, keepdim=True)


for _ in range(12):
    obs, action, next_obs = torch.randn(16, 12), torch.rand(16, 2), torch.randn(16, 12)
    with torch.no_grad():
        next_action, next_log_prob = act(encoder(next_obs))
        value = target_q(torch.cat([target_encoder(next_obs), next_action], -1))
        wanted = torch.randn(16, 1) + 0.99 * (value - log_alpha.exp() * next_log_prob)
    critic_loss = nn.functional.mse_loss(q(torch.cat([encoder(obs), action], -1)), wanted)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    features = encoder(obs).detach()
    new_action, log_prob = act(features)
    actor_loss = (log_alpha.exp().detach() * log_prob - q(torch.cat([features, new_action], -1))).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    alpha_optimizer.zero_grad()
    (log_alpha.exp() * (-log_prob + 2.0).detach()).mean().backward()
    alpha_optimizer.step()
    with torch.no_grad():
        for old, new in zip(
            (*target_encoder.parameters(), *target_q.parameters()), (*encoder.parameters(), *q.parameters())
        ):
            old.lerp_(new, 0.01)
