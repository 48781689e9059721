"""An advantage actor-critic for the pendulum draws its torque with sample and scores it by its log-probability. See
stackoverflow.com/questions/60533150 and 70163823 (sample or rsample).

Round 25
Class: zero in part
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(2508)


class GaussianActor(nn.Module):
    def __init__(self, obs_dim, hidden=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.mu = nn.Linear(hidden, 1)
        self.log_std = nn.Linear(hidden, 1)

    def forward(self, obs):
        h = self.net(obs)
        return Normal(self.mu(h), self.log_std(h).clamp(-3, 1).exp())


class ValueNet(nn.Module):
    def __init__(self, obs_dim, hidden=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, obs):
        return self.net(obs).squeeze(-1)


class A2C:
    def __init__(self, env, gamma=0.95, n_steps=10, lr=1e-3):
        self.env, self.gamma, self.n_steps = env, gamma, n_steps
        self.actor, self.critic = GaussianActor(3), ValueNet(3)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=lr)
        self.obs, _ = env.reset(seed=2508)

    def select_action(self, obs):
        dist = self.actor(obs)
        action = dist.sample()
        return action, dist.log_prob(action).sum(-1), dist.entropy().sum(-1)

    def collect(self):
        log_probs, entropies, observations, rewards = [], [], [], []
        for _ in range(self.n_steps):
            obs = torch.as_tensor(self.obs)
            action, log_prob, entropy = self.select_action(obs)
            torque = np.clip(2.0 * action.detach().numpy(), -2.0, 2.0)
            self.obs, reward, terminated, truncated, _ = self.env.step(torque)
            observations.append(obs)
            log_probs.append(log_prob)
            entropies.append(entropy)
            rewards.append(float(reward) / 8.0)
            if terminated or truncated:
                break
        last = torch.as_tensor(self.obs)
        if terminated or truncated:
            self.obs, _ = self.env.reset()
        return (
            torch.stack(observations),
            torch.stack(log_probs),
            torch.stack(entropies),
            rewards,
            last,
            terminated,
        )

    def update(self):
        observations, log_probs, entropies, rewards, last, terminated = self.collect()
        with torch.no_grad():
            running = torch.zeros(()) if terminated else self.critic(last)
        returns = []
        for reward in reversed(rewards):
            running = reward + self.gamma * running
            returns.append(running)
        returns = torch.stack(returns[::-1])
        values = self.critic(observations)
        advantage = (returns - values).detach()

        actor_loss = -(log_probs * advantage).mean() - 1e-3 * entropies.mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        critic_loss = (returns - values).pow(2).mean()
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        return actor_loss.item(), critic_loss.item()


def main():
    agent = A2C(gym.make("Pendulum-v1"))
    for _ in range(80):
        agent.update()


if __name__ == "__main__":
    main()
