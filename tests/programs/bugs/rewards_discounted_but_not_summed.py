"""REINFORCE, one update per episode: each log-probability is weighed with its own discounted reward alone."""

import numpy as np
import torch
from torch import nn


class Drift:
    """Stay near zero for as long as possible; the reward is larger in the middle."""

    def __init__(self):
        self.random = np.random.default_rng(3)

    def reset(self):
        self.x = self.random.normal(0.0, 0.2, size=3)
        return self.x.copy()

    def step(self, action):
        self.x = self.x + self.random.normal((action - 0.5) * 0.1, 0.15, size=3)
        done = bool(np.abs(self.x).max() > 1.2)
        return self.x.copy(), float(1.0 - np.abs(self.x).mean()), done, {}


class Reinforce:
    def __init__(self, gamma=0.9):
        self.gamma = gamma
        self.policy = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2), nn.LogSoftmax(dim=-1))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.log_probs, self.rewards = [], []

    def choose(self, obs):
        log_probs = self.policy(torch.tensor(obs, dtype=torch.float32))
        action = int(torch.multinomial(log_probs.detach().exp(), 1))
        self.log_probs.append(log_probs[action])
        return action

    def weights(self):
        return [self.gamma**i * reward for i, reward in enumerate(self.rewards)]  # BUG GS806

    def update(self):
        losses = []
        for log_prob, weight in zip(self.log_probs, self.weights(), strict=True):
            losses.append(-log_prob * weight)  # BUG GS806
        self.optimizer.zero_grad()
        torch.stack(losses).sum().backward()
        self.optimizer.step()
        self.log_probs, self.rewards = [], []


torch.manual_seed(0)
env, agent = Drift(), Reinforce()
for _ in range(8):
    obs, done = env.reset(), False
    while not done and len(agent.rewards) < 60:
        obs, reward, done, _ = env.step(agent.choose(obs))
        agent.rewards.append(reward)
    agent.update()
