"""REINFORCE on CartPole. The network ends in a softmax over its last axis, for one observation and for an
episode.

Round 32
Class: axes
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self, state_size=4, action_size=2, hidden_size=32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(state_size, hidden_size),
            nn.Tanh(),
            nn.Linear(hidden_size, action_size),
            nn.Softmax(dim=-1),
        )

    def forward(self, state):
        return self.layers(state)

    @torch.no_grad()
    def act(self, state):
        return Categorical(self(torch.from_numpy(state))).sample().item()


def run_episode(env, policy):
    state, _ = env.reset()
    states, actions, rewards = [], [], []
    over = False
    while not over:
        action = policy.act(state)
        states.append(state)
        actions.append(action)
        state, reward, terminated, truncated, _ = env.step(action)
        rewards.append(reward)
        over = terminated or truncated
    return np.array(states), np.array(actions), rewards


def discount_rewards(rewards, gamma):
    returns = np.zeros(len(rewards), dtype=np.float32)
    running = 0.0
    for t in reversed(range(len(rewards))):
        running = rewards[t] + gamma * running
        returns[t] = running
    return returns


def reinforce(env, policy, optimizer, n_episodes=55, gamma=0.99):
    scores = []
    for i_episode in range(n_episodes):
        states, actions, rewards = run_episode(env, policy)
        scores.append(sum(rewards))
        returns = torch.from_numpy(discount_rewards(rewards, gamma))
        returns = (returns - returns.mean()) / (returns.std() + 1e-9)

        probs = policy(torch.from_numpy(states))
        log_probs = Categorical(probs).log_prob(torch.from_numpy(actions))
        policy_loss = -(log_probs * returns).sum()

        optimizer.zero_grad()
        policy_loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 5.0)
        optimizer.step()
        if (i_episode + 1) % 10 == 0:
            print(f"Episode {i_episode + 1}\tAverage score: {np.mean(scores[-10:]):.2f}")
    return scores


if __name__ == "__main__":
    torch.manual_seed(0)
    env = gym.make("CartPole-v1")
    env.reset(seed=0)
    policy = Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    reinforce(env, policy, optimizer)
    env.close()
