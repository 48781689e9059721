"""Q-learning on the pole with the mellow maximum and no target network: the mellow value of the next state comes from
the network that is trained and is not taken as a constant.

Round 30
Class: the line
"""

import math
import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
from torch import nn, optim

seed, gamma, omega = 3002, 0.98, 8.0
batch_size, learning_starts, total_timesteps, train_frequency = 64, 120, 520, 4

random.seed(seed)
np.random.seed(seed)
torch.manual_seed(seed)


class QNetwork(nn.Module):
    def __init__(self, env):
        super().__init__()
        n_obs, n_act = env.observation_space.shape[0], env.action_space.n
        self.network = nn.Sequential(nn.Linear(n_obs, 64), nn.Tanh(), nn.Linear(64, int(n_act)))

    def forward(self, x):
        return self.network(x)

    def mellow_max(self, x):
        q = self(x)
        return (torch.logsumexp(omega * q, dim=1) - math.log(q.shape[1])) / omega


env = gym.make("CartPole-v1")
q_network = QNetwork(env)
optimizer = optim.Adam(q_network.parameters(), lr=1e-3)
buffer = deque(maxlen=10_000)

obs, _ = env.reset(seed=seed)
for global_step in range(total_timesteps):
    epsilon = max(0.1, 1.0 - global_step / 300)
    if random.random() < epsilon:
        action = random.randrange(2)
    else:
        with torch.no_grad():
            action = q_network(torch.from_numpy(obs).unsqueeze(0)).argmax(dim=1).item()
    next_obs, reward, terminated, truncated, _ = env.step(action)
    buffer.append((obs, action, reward, next_obs, terminated))
    obs = next_obs
    if terminated or truncated:
        obs, _ = env.reset()

    if global_step > learning_starts and global_step % train_frequency == 0:
        columns = zip(*random.sample(buffer, batch_size))
        observations, actions, rewards, next_observations, dones = (np.array(c) for c in columns)
        observations, next_observations = torch.from_numpy(observations), torch.from_numpy(next_observations)
        rewards = torch.from_numpy(rewards).float()
        dones = torch.from_numpy(dones).float()
        next_value = q_network.mellow_max(next_observations)  # BUG GS301
        td_target = rewards + gamma * next_value * (1 - dones)  # BUG GS301
        old_val = q_network(observations).gather(1, torch.from_numpy(actions).unsqueeze(1)).squeeze(1)
        loss = nn.functional.smooth_l1_loss(old_val, td_target)  # BUG GS301

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
env.close()
