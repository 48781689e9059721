"""REINFORCE that explores: the probabilities go to NumPy for the draw, and a share of the even distribution is mixed
in. The array is the memory of the policy's own probabilities: its softmax and its logarithm are differentiated at
numbers that the network never said.

Round 19
Class: hidden writes
"""

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim


class Policy(nn.Module):
    def __init__(self, s_size=4, h_size=32, a_size=3):
        super().__init__()
        self.fc1 = nn.Linear(s_size, h_size)
        self.fc2 = nn.Linear(h_size, a_size)

    def forward(self, x):
        return torch.softmax(self.fc2(torch.relu(self.fc1(x))), dim=-1)


class Shop:
    """Order little, some or much; demand follows the season, what is left over costs."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.day, self.stock = int(self.rng.integers(28)), 2.0
        return self.observe()

    def observe(self):
        angle = 2 * np.pi * self.day / 28
        return np.array([np.sin(angle), np.cos(angle), self.stock / 5, 1.0], dtype=np.float32)

    def step(self, order):
        demand = max(0.0, 2 + 2 * np.sin(2 * np.pi * self.day / 28) + 0.5 * self.rng.standard_normal())
        self.stock += 2.0 * order
        sold = min(self.stock, demand)
        self.stock = min(self.stock - sold, 6.0)
        self.day += 1
        return self.observe(), sold - 0.4 * self.stock - 0.2 * order


def choose(probs, epsilon, rng):
    p = probs.detach().numpy()  # BUG GS104
    p *= 1 - epsilon  # BUG GS104
    p += epsilon / len(p)  # BUG GS104
    action = int(rng.choice(len(p), p=p.astype(np.float64) / p.sum(dtype=np.float64)))
    return action, torch.log(probs[action])


def reinforce(policy, optimizer, env, rng, n_episodes=60, max_t=14, gamma=0.9):
    scores = []
    for i_episode in range(n_episodes):
        epsilon = max(0.1, 0.5 - i_episode / 100)
        state = env.reset()
        taken, rewards = [], []
        for _ in range(max_t):
            action, log_prob = choose(policy(torch.from_numpy(state)), epsilon, rng)
            taken.append(log_prob)
            state, reward = env.step(action)
            rewards.append(reward)
        returns = np.zeros(max_t, dtype=np.float32)
        running = 0.0
        for t in reversed(range(max_t)):
            running = rewards[t] + gamma * running
            returns[t] = running
        weights = torch.from_numpy((returns - returns.mean()) / (returns.std() + 1e-6))
        loss = -(torch.stack(taken) * weights).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scores.append(sum(rewards))
    return scores


torch.manual_seed(1913)
rng = np.random.default_rng(1913)
policy = Policy()
scores = reinforce(policy, optim.Adam(policy.parameters(), lr=5e-3), Shop(rng), rng)
print("first", np.mean(scores[:15]), "last", np.mean(scores[-15:]))
