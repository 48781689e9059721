"""Discrete SAC normalises the policy's logits along the batch instead of along the actions.

Class: axes
"""

import torch
from torch import nn

torch.manual_seed(83)
BATCH, ACTIONS = 32, 4
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, ACTIONS))
critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, ACTIONS))
policy_opt = torch.optim.Adam(policy.parameters(), lr=5e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=5e-3)


def probabilities(obs):
    log_probs = torch.log_softmax(policy(obs), dim=0)  # BUG GS604
    return log_probs.exp(), log_probs


def critic_update(obs):
    action = torch.randint(0, ACTIONS, (BATCH, 1))
    reward = obs.gather(1, action)
    loss = (critic(obs).gather(1, action) - reward).pow(2).mean()
    critic_opt.zero_grad()
    loss.backward()
    critic_opt.step()


def policy_update(obs, alpha=0.1):
    probs, log_probs = probabilities(obs)
    with torch.no_grad():
        q = critic(obs)
    loss = (probs * (alpha * log_probs - q)).sum(-1).mean()
    policy_opt.zero_grad()
    loss.backward()
    policy_opt.step()
    return probs.detach()


for step in range(150):
    obs = torch.randn(BATCH, 4)
    critic_update(obs)
    probs = policy_update(obs)
print("chosen best", (probs.argmax(-1) == obs.argmax(-1)).float().mean().item())
