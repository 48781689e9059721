"""REINFORCE on CartPole: the returns are gathered from the last step to the first and are never turned round, so
the first actions of an episode are weighed by what followed the last ones. After
PacktPublishing/Tensorflow-2-Reinforcement-Learning-Cookbook#27 and Farama-Foundation/Gymnasium#1337.

Round 26
Class: meaning
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class PolicyNetwork(nn.Module):
    def __init__(self, n_obs, n_actions):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_obs, 32), nn.ReLU(), nn.Linear(32, n_actions))

    def forward(self, x):
        return torch.distributions.Categorical(logits=self.net(x))


class REINFORCE:
    def __init__(self, env, learning_rate=1e-2, gamma=0.98):
        self.env, self.gamma = env, gamma
        self.policy = PolicyNetwork(env.observation_space.shape[0], env.action_space.n)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=learning_rate)
        self.running_mean = 0.0

    def sample_action(self, state):
        dist = self.policy(torch.tensor(np.array(state), dtype=torch.float32))
        action = dist.sample()
        return action.item(), dist.log_prob(action)

    def play(self, seed=None):
        obs, _ = self.env.reset(seed=seed)
        log_probs, rewards, done = [], [], False
        while not done:
            action, log_prob = self.sample_action(obs)
            obs, reward, terminated, truncated, _ = self.env.step(action)
            log_probs.append(log_prob)
            rewards.append(float(reward))
            done = terminated or truncated
        return log_probs, rewards

    def discounted_returns(self, rewards):
        discounted, running = [], 0.0
        for reward in reversed(rewards):
            running = reward + self.gamma * running
            discounted.append(running)  # BUG GS806
        return torch.tensor(discounted)  # BUG GS806

    def update(self, log_probs, rewards):
        returns = self.discounted_returns(rewards)
        weights = (returns - returns.mean()) / (returns.std() + 1e-6)
        loss = -(torch.stack(log_probs) * weights).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.running_mean = 0.9 * self.running_mean + 0.1 * len(rewards)


if __name__ == "__main__":
    torch.manual_seed(2626)
    env = gym.make("CartPole-v1")
    agent = REINFORCE(env)
    for episode in range(60):
        agent.update(*agent.play(seed=2626 if episode == 0 else None))
        if episode % 15 == 14:
            print(f"episode {episode + 1}, running length {agent.running_mean:.1f}")
    env.close()
