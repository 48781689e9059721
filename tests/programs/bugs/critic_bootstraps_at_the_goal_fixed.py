"""A class-based actor-critic on an environment of its own: nothing follows the goal."""

import numpy as np
import torch
from torch import nn


class Walk:
    """A point on a line: leaving it on the right is the goal, on the left a failure."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def reset(self):
        self.position = self.random.uniform(-0.3, 0.3, size=2).astype(np.float32)
        return self.position.copy(), {}

    def step(self, action):
        self.position += self.random.normal(0.25 if action else -0.25, 0.05, size=2).astype(np.float32)
        terminated = bool(abs(self.position).max() > 1.0)
        reward = float(self.position[0]) if terminated else -0.05
        return self.position.copy(), reward, terminated, False, {}


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
        self.critic = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
        self.optimizer = torch.optim.Adam([*self.actor.parameters(), *self.critic.parameters()], lr=3e-3)
        self.rollout = []

    def act(self, obs):
        with torch.no_grad():
            return int(torch.distributions.Categorical(logits=self.actor(torch.as_tensor(obs))).sample())

    def learn(self):
        obs, actions, rewards, next_obs, dones = (np.stack(part) for part in zip(*self.rollout, strict=True))
        obs, next_obs = torch.as_tensor(obs), torch.as_tensor(next_obs)
        rewards, dones = (
            torch.as_tensor(rewards).float().unsqueeze(1),
            torch.as_tensor(dones).float().unsqueeze(1),
        )
        goes_on = 1 - dones
        target = rewards + 0.95 * goes_on * self.critic(next_obs).detach()
        value = self.critic(obs)
        advantage = (target - value).detach()
        log_prob = torch.distributions.Categorical(logits=self.actor(obs)).log_prob(torch.as_tensor(actions))
        loss = (target - value).pow(2).mean() - (log_prob * advantage.squeeze(1)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.rollout.clear()


torch.manual_seed(0)
env, agent = Walk(0), Agent()
obs, _ = env.reset()
for _ in range(12 * 32):
    action = agent.act(obs)
    next_obs, reward, terminated, truncated, _ = env.step(action)
    agent.rollout.append((obs, action, reward, next_obs, terminated))
    obs = env.reset()[0] if terminated or truncated else next_obs
    if len(agent.rollout) == 32:
        agent.learn()
