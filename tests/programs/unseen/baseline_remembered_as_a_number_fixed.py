"""REINFORCE with a learned baseline for a cart that should come to rest at the middle of a rail. The
baseline's estimates stay attached for its squared error, and are detached only where they are taken from
the returns.

Round 34
Class: zero in part
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(340)
LENGTH, EPISODES, GAMMA = 25, 60, 0.97


class Rail:
    """The cart is pushed to the left, let alone or pushed to the right; LENGTH steps are a game."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.place, self.speed, self.clock = self.rng.uniform(-1, 1), 0.0, 0
        return self.observe()

    def observe(self):
        return torch.tensor([self.place, self.speed, self.clock / LENGTH], dtype=torch.float32)

    def step(self, action):
        self.speed = 0.9 * self.speed + 0.1 * (action - 1)
        self.place = float(np.clip(self.place + 0.3 * self.speed, -2, 2))
        self.clock += 1
        return self.observe(), -abs(self.place), self.clock == LENGTH


policy = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 3))
critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(nn.ModuleList([policy, critic]).parameters(), lr=3e-3)
env = Rail(34)
scores = []

for _ in range(EPISODES):
    obs, ended = env.reset(), False
    log_probs, entropies, values, rewards = [], [], [], []
    while not ended:
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        values.append(critic(obs).squeeze(-1))
        obs, reward, ended = env.step(action.item())
        rewards.append(reward)

    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + GAMMA * total
        returns.insert(0, total)
    returns = torch.tensor(returns)
    values = torch.stack(values)

    advantage = returns - values.detach()
    policy_loss = -(torch.stack(log_probs) * advantage).mean()
    value_loss = (values - returns).pow(2).mean()
    loss = policy_loss + 0.5 * value_loss - 0.01 * torch.stack(entropies).mean()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scores.append(sum(rewards))

print(f"first ten {np.mean(scores[:10]):.2f}, last ten {np.mean(scores[-10:]):.2f}")
