"""SAC's policy head is chunked into mean and log-std, and one of the chunks is clamped in place.

Class: forward errors
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal

torch.manual_seed(3)


class Policy(nn.Module):
    def __init__(self, obs_dim=5, act_dim=2):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, 48), nn.ReLU())
        self.head = nn.Linear(48, 2 * act_dim)

    def forward(self, obs):
        mean, log_std = self.head(self.body(obs)).chunk(2, dim=-1)
        log_std.clamp_(-5.0, 2.0)  # BUG GS101
        dist = Normal(mean, log_std.exp())
        raw = dist.rsample()
        action = torch.tanh(raw)
        correction = 2.0 * (0.6931472 - raw - F.softplus(-2.0 * raw))
        return action, (dist.log_prob(raw) - correction).sum(-1)


class Critic(nn.Module):
    def __init__(self, obs_dim=5, act_dim=2):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs_dim + act_dim, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, obs, action):
        return self.net(torch.cat([obs, action], -1)).squeeze(-1)


policy, critic = Policy(), Critic()
policy_opt = torch.optim.Adam(policy.parameters(), lr=3e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=3e-3)
goal = torch.tensor([0.5, -0.5])
for update in range(120):
    obs = torch.randn(32, 5)
    with torch.no_grad():
        action, _ = policy(obs)
    reward = -(action - goal).pow(2).sum(-1)
    critic_loss = F.mse_loss(critic(obs, action), reward)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    action, log_prob = policy(obs)
    policy_loss = (0.05 * log_prob - critic(obs, action)).mean()
    policy_opt.zero_grad()
    policy_loss.backward()
    policy_opt.step()
print("reward", reward.mean().item())
