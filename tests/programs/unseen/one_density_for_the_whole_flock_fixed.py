"""Advantage actor-critic steers a flock of eight kites at once, each with three lines. The log-density of
an action is summed over the lines of its kite.

Round 33
Class: axes
"""

import torch
from torch import nn
from torch.distributions import Normal

KITES, LINES, HORIZON = 8, 3, 16


class Wind:
    """Every kite drifts in the wind and is paid for being high; the flight never ends."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.place = torch.randn(KITES, LINES, generator=self.generator)
        self.wind = torch.randn(KITES, LINES, generator=self.generator)

    def observe(self):
        return torch.cat([self.place, self.wind], -1)

    def step(self, pull):
        self.wind = 0.9 * self.wind + 0.3 * torch.randn(KITES, LINES, generator=self.generator)
        self.place = (0.8 * self.place + 0.3 * self.wind + 0.4 * pull.clamp(-2, 2)).clamp(-3, 3)
        return self.observe(), -self.place.pow(2).mean(-1)


class GaussianActor(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(2 * LINES, 32), nn.Tanh(), nn.Linear(32, LINES))
        self.log_std = nn.Parameter(torch.full((LINES,), -0.5))

    def forward(self, obs):
        return Normal(self.mean(obs), self.log_std.exp())

    def log_prob(self, obs, pull):
        return self(obs).log_prob(pull).sum(-1)


class A2C:
    def __init__(self, gamma=0.95, lr=2e-3):
        self.actor = GaussianActor()
        self.critic = nn.Sequential(nn.Linear(2 * LINES, 32), nn.Tanh(), nn.Linear(32, 1))
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=lr)
        self.gamma = gamma

    def rollout(self, world):
        steps, obs = [], world.observe()
        for _ in range(HORIZON):
            with torch.no_grad():
                pull = self.actor(obs).sample()
            after, reward = world.step(pull)
            steps.append((obs, pull, reward))
            obs = after
        with torch.no_grad():
            running = self.critic(obs).squeeze(-1)
        returns = []
        for _, _, reward in reversed(steps):
            running = reward + self.gamma * running
            returns.append(running)
        return steps, returns[::-1]

    def learn(self, world):
        steps, returns = self.rollout(world)
        actor_loss = critic_loss = 0.0
        for (obs, pull, _), ret in zip(steps, returns):
            value = self.critic(obs).squeeze(-1)
            advantage = ret - value.detach()
            actor_loss = actor_loss - (self.actor.log_prob(obs, pull) * advantage).mean()
            critic_loss = critic_loss + (ret - value).pow(2).mean()
        self.actor_optimizer.zero_grad()
        (actor_loss / HORIZON).backward()
        nn.utils.clip_grad_norm_(self.actor.parameters(), 1.0)
        self.actor_optimizer.step()
        self.critic_optimizer.zero_grad()
        (critic_loss / HORIZON).backward()
        self.critic_optimizer.step()
        return torch.stack([reward for _, _, reward in steps]).mean().item()


if __name__ == "__main__":
    torch.manual_seed(30)
    world, agent = Wind(30), A2C()
    for update in range(60):
        reward = agent.learn(world)
        if update % 15 == 14:
            print(f"update {update + 1}: mean reward {reward:.3f}")
