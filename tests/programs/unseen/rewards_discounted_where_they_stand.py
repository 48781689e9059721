"""REINFORCE discounts every reward by its place in the episode and calls the list its returns; nothing is ever summed.

Round 22
Class: meaning
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn

torch.manual_seed(2221)
env = gym.make("CartPole-v1")
model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2), nn.LogSoftmax(dim=-1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
DISCOUNT = 0.97


def discount_rewards(r, discount_rate):
    discounted = np.array([x * discount_rate**i for i, x in enumerate(r)], dtype=np.float32)  # BUG GS806
    return (discounted - discounted.mean()) / (discounted.std() + 1e-7)  # BUG GS806


def train_episodic(x_stack, action_stack, weights):
    log_p = model(torch.from_numpy(x_stack))
    picked = (log_p * torch.eye(2)[torch.from_numpy(action_stack)]).sum(dim=1)
    loss = torch.mean(-picked * torch.from_numpy(weights))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss)


def play(seed):
    state, _ = env.reset(seed=seed)
    states, actions, rewards = [], [], []
    while True:
        with torch.no_grad():
            p = model(torch.from_numpy(state)).exp().double().numpy()
        action = np.random.choice(2, p=p / p.sum())
        states.append(state)
        actions.append(action)
        state, reward, terminated, truncated, _ = env.step(action)
        if terminated:
            reward = -5.0
        rewards.append(reward)
        if terminated or truncated or len(rewards) == 80:
            return np.stack(states), np.array(actions), rewards


np.random.seed(2221)
for episode in range(45):
    states, actions, rewards = play(seed=episode)
    loss = train_episodic(states, actions, discount_rewards(rewards, DISCOUNT))
    if episode % 15 == 0:
        print(episode, len(rewards), round(loss, 3))
