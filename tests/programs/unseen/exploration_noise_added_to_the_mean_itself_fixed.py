"""A Gaussian policy with a fixed spread. The mean goes to the simulator as an array, and the exploration noise is
added to that array in place: it is the memory of the mean, which then agrees with every action that was taken.
Repaired here.

Round 18
Class: hidden writes
"""

import numpy as np
import torch
from torch import nn

torch.manual_seed(1816)
rng = np.random.default_rng(1816)
SIGMA, GAMMA, ENVS = 0.2, 0.9, 16


class Sailboats:
    """Each boat must keep the angle to its wind that pays most."""

    def __init__(self):
        self.wind = rng.uniform(-1, 1, size=(ENVS, 2))

    def observe(self):
        return self.wind.astype(np.float32)

    def step(self, action):
        best = np.tanh(self.wind[:, :1] - 0.5 * self.wind[:, 1:])
        reward = 1.0 - np.abs(action - best)[:, 0]
        self.wind = np.clip(self.wind + 0.1 * rng.standard_normal(self.wind.shape), -1, 1)
        return self.observe(), reward.astype(np.float32)


class GaussianActorCritic:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        self.actor_optim = torch.optim.Adam(self.actor.parameters(), lr=2e-3)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=5e-3)

    def choose(self, obs):
        """The action for the simulator, and the mean that it was drawn around."""
        mean = self.actor(torch.from_numpy(obs))
        action = mean.detach().numpy().copy()
        action += SIGMA * rng.standard_normal(action.shape).astype(np.float32)
        return action, mean

    def log_prob(self, mean, action):
        return -((torch.from_numpy(action) - mean) / SIGMA).pow(2).sum(-1) / 2

    def learn(self, obs, mean, action, reward, next_obs):
        value = self.critic(torch.from_numpy(obs)).squeeze(-1)
        with torch.no_grad():
            goal = torch.from_numpy(reward) + GAMMA * self.critic(torch.from_numpy(next_obs)).squeeze(-1)
        advantage = (goal - value).detach()
        actor_loss = -(self.log_prob(mean, action) * advantage).mean()
        critic_loss = (goal - value).pow(2).mean()
        self.actor_optim.zero_grad()
        actor_loss.backward()
        self.actor_optim.step()
        self.critic_optim.zero_grad()
        critic_loss.backward()
        self.critic_optim.step()
        return critic_loss.item()


env, agent = Sailboats(), GaussianActorCritic()
obs = env.observe()
rewards = []
for step in range(150):
    action, mean = agent.choose(obs)
    next_obs, reward = env.step(action)
    loss = agent.learn(obs, mean, action, reward, next_obs)
    obs = next_obs
    rewards.append(reward.mean())
    if step % 50 == 49:
        print(step + 1, round(float(np.mean(rewards[-50:])), 3), round(loss, 3))
