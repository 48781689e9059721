"""A one-step actor-critic whose actor says two angles: they are scaled in NumPy before the normal distribution is made
of them, so the log-probability knows nothing of the actor and only the critic learns.
Repaired here.

Round 24
Class: the line
"""

import numpy as np
import torch as T
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import multivariate_normal as mn


class GenericNetwork(nn.Module):
    def __init__(self, alpha, input_dims, fc1_dims, n_outputs):
        super().__init__()
        self.fc1 = nn.Linear(input_dims, fc1_dims)
        self.fc2 = nn.Linear(fc1_dims, n_outputs)
        self.optimizer = optim.Adam(self.parameters(), lr=alpha)

    def forward(self, observation):
        state = T.tensor(observation, dtype=T.float)
        return self.fc2(F.relu(self.fc1(state)))


RANGES = np.array([2 * np.pi, np.pi / 2])


class NewAgent:
    def __init__(self, alpha, beta, input_dims, gamma=0.95, layer_size=48):
        self.gamma = gamma
        self.actor = GenericNetwork(alpha, input_dims, layer_size, n_outputs=2)
        self.critic = GenericNetwork(beta, input_dims, layer_size, n_outputs=1)
        self.log_probs = None

    def choose_action(self, observation):
        thetas = T.sigmoid(self.actor.forward(observation))
        mu = thetas * T.tensor(RANGES, dtype=T.float)
        dist = mn.MultivariateNormal(mu, 0.05 * T.eye(2))
        action = dist.sample()
        self.log_probs = dist.log_prob(action)
        return action.numpy()

    def learn(self, state, reward, new_state, done):
        self.actor.optimizer.zero_grad()
        self.critic.optimizer.zero_grad()
        value = self.critic.forward(state)
        with T.no_grad():
            target = reward + self.gamma * self.critic.forward(new_state) * (1 - int(done))
        delta = target - value
        actor_loss = -self.log_probs * delta.detach()
        critic_loss = delta**2
        (actor_loss + critic_loss).sum().backward()
        self.actor.optimizer.step()
        self.critic.optimizer.step()


class Telescope:
    """Turn to the star: the observation is where it stands and how far one was off at the last look."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.star = self.rng.uniform([0.5, 0.2], [5.5, 1.3])
        self.looks = 0
        return np.concatenate([self.star / RANGES, np.zeros(2)])

    def step(self, action):
        self.looks += 1
        off = np.abs(action - self.star)
        self.star = np.clip(self.star + self.rng.normal(scale=0.05, size=2), 0.1, [6.0, 1.45])
        found, late = bool(off.max() < 0.15), self.looks == 12
        return np.concatenate([self.star / RANGES, off]), -float(off.sum()), found, late


if __name__ == "__main__":
    T.manual_seed(2407)
    agent, env = NewAgent(alpha=2e-3, beta=5e-3, input_dims=4), Telescope(seed=24)
    score_history = []
    for episode in range(25):
        observation, over, score, steps = env.reset(), False, 0.0, 0
        while not over:
            action = agent.choose_action(observation)
            observation_, reward, found, late = env.step(action)
            agent.learn(observation, reward, observation_, found)
            observation, over = observation_, found or late
            score, steps = score + reward, steps + 1
        score_history.append(score / steps)
    first, last = -np.mean(score_history[:5]), -np.mean(score_history[-5:])
    print(f"mean error of a look: {first:.2f} at first, {last:.2f} at last")
