"""PPO epochs over minibatches; the KL stops early, and now and then every sample is clipped."""

import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
log_std = nn.Parameter(torch.zeros(2))
critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
parameters = [*actor.parameters(), log_std, *critic.parameters()]
optimizer = torch.optim.Adam(parameters, lr=3e-3)


def policy(obs):
    return torch.distributions.Normal(actor(obs), log_std.exp().expand(len(obs), 2))


for _ in range(4):
    with torch.no_grad():
        obs = torch.randn(64, 3)
        dist = policy(obs)
        action = dist.sample()
        old = dist.log_prob(action).sum(-1)
        value = critic(obs).squeeze(-1)
        returns = torch.randn(64) + 0.9 * value
        advantage = returns - value
    for _ in range(6):
        kls = []
        for index in torch.randperm(64).split(8):
            log_prob = policy(obs[index]).log_prob(action[index]).sum(-1)
            ratio = (log_prob - old[index]).exp()
            a = advantage[index]
            a = (a - a.mean()) / (a.std() + 1e-8)
            policy_loss = -torch.min(ratio * a, ratio.clamp(0.98, 1.02) * a).mean()
            value_loss = (critic(obs[index]).squeeze(-1) - returns[index]).pow(2).mean()
            optimizer.zero_grad()
            (policy_loss + 0.5 * value_loss).backward()
            nn.utils.clip_grad_norm_(parameters, 0.5)
            optimizer.step()
            with torch.no_grad():
                kls.append(((ratio - 1) - ratio.log()).mean().item())
        if sum(kls) / len(kls) > 0.02:
            break
