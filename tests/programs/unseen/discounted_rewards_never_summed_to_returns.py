"""REINFORCE on CartPole in one script: every step is weighted with its own reward times a power of gamma, so nothing
that comes later counts for it. After hunkim/ReinforcementZeroToAll#1.

Round 35
Class: meaning
"""

import random

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

SEED = 3501
GAMMA = 0.99
LEARNING_RATE = 5e-3
MAX_EPISODES = 70

random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


class PolicyNet(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(input_size, hidden_size),
            nn.ReLU(),
            nn.Linear(hidden_size, output_size),
        )

    def forward(self, x):
        return self.net(x)


def discount_rewards(rewards, gamma):
    """The weight of every step of one episode."""
    discounted = [r * gamma**i for i, r in enumerate(rewards)]  # BUG GS806
    return torch.tensor(discounted, dtype=torch.float32)


def normalise(x):
    return (x - x.mean()) / (x.std() + 1e-6)


def play(env, policy, seed):
    states, actions, rewards = [], [], []
    state, _ = env.reset(seed=seed)
    done = False
    while not done:
        with torch.no_grad():
            probs = policy(torch.from_numpy(state).float()).softmax(-1).numpy().astype(np.float64)
        action = int(np.random.choice(len(probs), p=probs / probs.sum()))
        states.append(state)
        actions.append(action)
        state, reward, terminated, truncated, _ = env.step(action)
        rewards.append(float(reward))
        done = terminated or truncated
    return np.stack(states), np.array(actions), rewards


def main():
    env = gym.make("CartPole-v1")
    policy = PolicyNet(4, 24, 2)
    optimizer = optim.Adam(policy.parameters(), lr=LEARNING_RATE)
    lengths = []

    for episode in range(MAX_EPISODES):
        states, actions, rewards = play(env, policy, SEED + episode)
        lengths.append(len(rewards))
        weights = normalise(discount_rewards(rewards, GAMMA))

        log_probs = policy(torch.from_numpy(states).float()).log_softmax(-1)
        taken = log_probs.gather(1, torch.from_numpy(actions).view(-1, 1)).squeeze(1)
        loss = -(taken * weights).sum()

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        if episode % 20 == 19:
            print(f"episode {episode + 1}: mean length {np.mean(lengths[-20:]):.1f}")
    env.close()


if __name__ == "__main__":
    main()
