"""A clerk who admits or turns away customers learns by differential actor-critic in a task that never ends.
The estimate of the average reward is moved by the temporal-difference error as a plain number.

Round 33
Class: stays alive
"""

import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(12)


class Counter:
    """Ten clerks serve customers of four priorities; a customer pays his priority when he is admitted."""

    def __init__(self, clerks=10, seed=12):
        self.rng = np.random.default_rng(seed)
        self.clerks, self.free, self.priority = clerks, clerks, 0

    def observe(self):
        obs = torch.zeros(5)
        obs[self.priority] = 1.0
        obs[4] = self.free / self.clerks
        return obs

    def step(self, admit):
        reward = 0.0
        if admit and self.free > 0:
            reward = float(2**self.priority) / 8
            self.free -= 1
        self.free += self.rng.binomial(self.clerks - self.free, 0.06)
        self.priority = int(self.rng.integers(4))
        return self.observe(), reward


class Clerk:
    def __init__(self, lr=2e-3, average_rate=0.01):
        self.policy = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 2))
        self.value = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam(
            [{"params": self.policy.parameters()}, {"params": self.value.parameters(), "lr": 2 * lr}], lr=lr
        )
        self.average_rate = average_rate
        self.average = 0.0

    def act(self, obs):
        dist = torch.distributions.Categorical(logits=self.policy(obs))
        action = dist.sample()
        return action.item(), dist.log_prob(action)

    def update(self, obs, log_prob, reward, next_obs):
        with torch.no_grad():
            next_value = self.value(next_obs).squeeze()
        delta = reward - self.average + next_value - self.value(obs).squeeze()
        self.average = self.average + self.average_rate * delta.item()
        loss = 0.5 * delta.pow(2) - log_prob * delta.detach()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def run(steps=800):
    counter, clerk = Counter(), Clerk()
    obs = counter.observe()
    earned = []
    for t in range(steps):
        action, log_prob = clerk.act(obs)
        next_obs, reward = counter.step(action)
        clerk.update(obs, log_prob, reward, next_obs)
        obs = next_obs
        earned.append(reward)
        if (t + 1) % 200 == 0:
            print(f"{t + 1}: average {float(clerk.average):.3f}, earned {np.mean(earned[-200:]):.3f}")


run()
