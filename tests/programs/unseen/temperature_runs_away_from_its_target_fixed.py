"""The loss of the temperature lacks its minus: it falls where the policy is too certain.
Repaired here.

Round 5
Class: meaning
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(521)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.ReLU())
        self.mean, self.log_std = nn.Linear(32, 2), nn.Linear(32, 2)

    def forward(self, obs):
        hidden = self.body(obs)
        dist = Normal(self.mean(hidden), self.log_std(hidden).clamp(-4, 1).exp())
        raw = dist.rsample()
        squash = (1 - raw.tanh().pow(2) + 1e-6).log()
        return raw.tanh(), (dist.log_prob(raw) - squash).sum(-1, keepdim=True)


actor = Actor()
critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
log_alpha = torch.zeros((), requires_grad=True)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
alpha_optimizer = torch.optim.Adam([log_alpha], lr=1e-2)
for update in range(80):
    obs = torch.randn(48, 4)
    with torch.no_grad():
        action, _ = actor(obs)
    reward = -(action - 0.5 * obs[:, :2]).pow(2).sum(-1, keepdim=True)
    critic_loss = (critic(torch.cat([obs, action], 1)) - reward).pow(2).mean()
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    action, logp = actor(obs)
    actor_loss = (log_alpha.exp().detach() * logp - critic(torch.cat([obs, action], 1))).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    alpha_loss = -(log_alpha * (logp.detach() - 2.0)).mean()
    alpha_optimizer.zero_grad()
    alpha_loss.backward()
    alpha_optimizer.step()
