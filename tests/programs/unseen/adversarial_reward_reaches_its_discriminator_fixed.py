"""Imitation by an adversary: the reward of the policy is the discriminator's live logit, and the policy's backward fills it.
Repaired here.

Round 8
Class: weights
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal

torch.manual_seed(814)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
judge = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
policy_opt = torch.optim.Adam(policy.parameters(), lr=1e-3)
judge_opt = torch.optim.Adam(judge.parameters(), lr=1e-3)
for update in range(60):
    obs, expert_obs = torch.randn(32, 4), torch.randn(32, 4)
    expert_action = expert_obs[:, :2].tanh()
    dist = Normal(policy(obs), 0.3)
    action = dist.sample()

    logits = judge(torch.cat([obs, action], -1)).squeeze(-1)
    reward = (F.logsigmoid(logits) - F.logsigmoid(-logits)).detach()
    policy_loss = -(dist.log_prob(action).sum(-1) * reward).mean()
    policy_opt.zero_grad()
    judge_opt.zero_grad()
    policy_loss.backward()
    policy_opt.step()

    fake = judge(torch.cat([obs, action], -1)).squeeze(-1)
    real = judge(torch.cat([expert_obs, expert_action], -1)).squeeze(-1)
    judge_loss = F.softplus(fake).mean() + F.softplus(-real).mean()
    judge_loss.backward()
    judge_opt.step()
