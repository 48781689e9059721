"""A helper that mixes reward and next value has two callers; the critic's hands it a value with its graph.
Repaired here.

Class: the line
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(347)


def td_target(reward, done, next_value, gamma=0.9):
    return reward + gamma * (1.0 - done) * next_value


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
        self.critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))

    def value(self, obs):
        return self.critic(obs).squeeze(-1)


class Env:
    """Sixteen drifting points; action 1 pushes right, and being right of zero pays."""

    def __init__(self):
        self.obs = torch.randn(16, 4)

    def step(self, action):
        push = (2.0 * action - 1.0).unsqueeze(1)
        self.obs = 0.8 * self.obs + 0.3 * push + 0.2 * torch.randn(16, 4)
        done = (torch.rand(16) < 0.05).float()
        return self.obs, self.obs[:, 0].clamp(-1, 1), done


net, env = Network(), Env()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
obs = env.obs
for step in range(200):
    dist = Categorical(logits=net.actor(obs))
    action = dist.sample()
    next_obs, reward, done = env.step(action)
    with torch.no_grad():
        advantage = td_target(reward, done, net.value(next_obs)) - net.value(obs)
    actor_loss = -(dist.log_prob(action) * advantage).mean()
    target = td_target(reward, done, net.value(next_obs).detach())
    critic_loss = (net.value(obs) - target).pow(2).mean()
    optimizer.zero_grad()
    (actor_loss + critic_loss).backward()
    optimizer.step()
    obs = next_obs
print("reward", reward.mean().item())
