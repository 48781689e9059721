"""An actor-critic from a video, adapted to two continuous angles. A helper that makes the mean and the covariance works
on arrays, so the network's output is detached for it and wrapped again: the density is one of constants, the critic's
loss keeps the backward going, and the actor's weights never move.
Repaired here.

Round 19
Class: the line
"""

import math

import numpy as np
import torch as T
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import MultivariateNormal

LIMITS = (2 * math.pi, math.pi / 2)


class GenericNetwork(nn.Module):
    def __init__(self, alpha, input_dims, fc1_dims, fc2_dims, n_actions):
        super().__init__()
        self.fc1 = nn.Linear(input_dims, fc1_dims)
        self.fc2 = nn.Linear(fc1_dims, fc2_dims)
        self.fc3 = nn.Linear(fc2_dims, n_actions)
        self.optimizer = optim.Adam(self.parameters(), lr=alpha)

    def forward(self, observation):
        state = T.tensor(observation, dtype=T.float)
        x = F.relu(self.fc1(state))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def get_params_from_policy_thetas(thetas, spread=0.3):
    mean = thetas * T.tensor(LIMITS)
    return mean, spread**2 * T.eye(2)


class Agent:
    def __init__(self, alpha, beta, input_dims, gamma=0.9):
        self.gamma = gamma
        self.log_probs = None
        self.actor = GenericNetwork(alpha, input_dims, 32, 32, n_actions=2)
        self.critic = GenericNetwork(beta, input_dims, 32, 32, n_actions=1)

    def choose_action(self, observation):
        policy_thetas = T.sigmoid(self.actor.forward(observation))
        mu, S = get_params_from_policy_thetas(policy_thetas)
        action_probs = MultivariateNormal(mu, S)
        action = action_probs.sample()
        self.log_probs = action_probs.log_prob(action)
        return action.numpy()

    def learn(self, state, reward, new_state, done):
        self.actor.optimizer.zero_grad()
        self.critic.optimizer.zero_grad()
        critic_value = self.critic.forward(state)
        with T.no_grad():
            target = reward + self.gamma * self.critic.forward(new_state) * (1 - int(done))
        delta = target - critic_value
        actor_loss = -(self.log_probs * delta.detach()).sum()
        critic_loss = (delta**2).sum()
        (actor_loss + critic_loss).backward()
        self.actor.optimizer.step()
        self.critic.optimizer.step()


class Telescope:
    """Turn and tilt until the star is in the middle; the night is twelve tries long."""

    def reset(self):
        self.star = np.random.uniform(0.2, 0.8, size=2) * LIMITS
        self.tries = 0
        return self.star / LIMITS

    def step(self, angles):
        miss = np.abs(np.asarray(angles) - self.star)
        self.tries += 1
        self.star = np.clip(self.star + 0.05 * np.random.randn(2), 0, LIMITS)
        return self.star / LIMITS, 1.0 - float(miss.sum()) / 4, self.tries == 12


np.random.seed(1906)
T.manual_seed(1906)
agent, env = Agent(alpha=1e-3, beta=5e-3, input_dims=2), Telescope()
score_history = []
for episode in range(12):
    done, score, observation = False, 0.0, env.reset()
    while not done:
        action = agent.choose_action(observation)
        observation_, reward, done = env.step(action)
        agent.learn(observation, reward, observation_, done)
        observation = observation_
        score += reward
    score_history.append(score)
    print(f"episode {episode} score {score:.2f}")
