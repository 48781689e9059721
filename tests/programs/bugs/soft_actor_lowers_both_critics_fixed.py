"""SAC with twin critics in a class: the smaller of the two values enters the actor's loss with a plus."""

import copy

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)


class Twin(nn.Module):
    def __init__(self):
        super().__init__()
        self.q1 = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
        self.q2 = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, obs, action):
        x = torch.cat([obs, action], -1)
        return self.q1(x), self.q2(x)


class Agent:
    def __init__(self):
        self.actor, self.critic = nn.Linear(3, 4), Twin()
        self.target = copy.deepcopy(self.critic).requires_grad_(False)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.alpha = 0.1

    def sample(self, obs):
        mean, log_std = self.actor(obs).chunk(2, -1)
        dist = Normal(mean, log_std.clamp(-5, 2).exp())
        raw = dist.rsample()
        action = raw.tanh()
        return action, (dist.log_prob(raw) - torch.log(1 - action**2 + 1e-6)).sum(-1, keepdim=True)

    def update(self, obs, action, reward, after):
        with torch.no_grad():
            new, log_prob = self.sample(after)
            target = reward + 0.99 * (torch.min(*self.target(after, new)) - self.alpha * log_prob)
        q1, q2 = self.critic(obs, action)
        critic_loss = (q1 - target).pow(2).mean() + (q2 - target).pow(2).mean()
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        new, log_prob = self.sample(obs)
        value = torch.min(*self.critic(obs, new))
        actor_loss = (self.alpha * log_prob - value).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        for p, t in zip(self.critic.parameters(), self.target.parameters()):
            t.data.copy_(0.005 * p.data + 0.995 * t.data)


agent = Agent()
for _ in range(16):
    agent.update(torch.randn(16, 3), torch.rand(16, 2) * 2 - 1, torch.randn(16, 1), torch.randn(16, 3))
