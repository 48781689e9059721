"""Q-learning with one network: the next value is detached, but the result of detach() is not kept, so the loss goes down
through its own target as well. oreilly-japan/deep-learning-from-scratch-4#13, in the version without a target network.

Round 25
Class: the line
"""

import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class ReplayBuffer:
    def __init__(self, buffer_size, batch_size):
        self.buffer = deque(maxlen=buffer_size)
        self.batch_size = batch_size

    def add(self, state, action, reward, next_state, done):
        self.buffer.append((state, action, reward, next_state, done))

    def __len__(self):
        return len(self.buffer)

    def get_batch(self):
        data = random.sample(self.buffer, self.batch_size)
        state = torch.tensor(np.stack([x[0] for x in data]))
        action = torch.tensor([x[1] for x in data])
        reward = torch.tensor([x[2] for x in data], dtype=torch.float32)
        next_state = torch.tensor(np.stack([x[3] for x in data]))
        done = torch.tensor([x[4] for x in data], dtype=torch.float32)
        return state, action, reward, next_state, done


class QNet(nn.Module):
    def __init__(self, action_size):
        super().__init__()
        self.l1 = nn.Linear(4, 64)
        self.l2 = nn.Linear(64, 64)
        self.l3 = nn.Linear(64, action_size)

    def forward(self, x):
        x = F.relu(self.l1(x))
        x = F.relu(self.l2(x))
        return self.l3(x)


class QAgent:
    def __init__(self):
        self.gamma = 0.98
        self.lr = 5e-4
        self.epsilon = 0.2
        self.action_size = 2
        self.replay_buffer = ReplayBuffer(2000, 32)
        self.qnet = QNet(self.action_size)
        self.optimizer = optim.Adam(self.qnet.parameters(), lr=self.lr)

    def get_action(self, state):
        if np.random.rand() < self.epsilon:
            return np.random.choice(self.action_size)
        with torch.no_grad():
            qs = self.qnet(torch.tensor(state[np.newaxis, :]))
        return qs.argmax().item()

    def update(self, state, action, reward, next_state, done):
        self.replay_buffer.add(state, action, reward, next_state, done)
        if len(self.replay_buffer) < 128:
            return
        state, action, reward, next_state, done = self.replay_buffer.get_batch()
        qs = self.qnet(state)
        q = qs[np.arange(len(action)), action]

        next_qs = self.qnet(next_state)
        next_q = next_qs.max(1)[0]  # BUG GS301
        next_q.detach()  # BUG GS301
        target = reward + (1 - done) * self.gamma * next_q  # BUG GS301

        loss = F.mse_loss(q, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


random.seed(2512)
np.random.seed(2512)
torch.manual_seed(2512)
env = gym.make("CartPole-v1")
agent = QAgent()
state = env.reset(seed=2512)[0]
reward_history, total_reward = [], 0.0
for step in range(230):
    action = agent.get_action(state)
    next_state, reward, terminated, truncated, info = env.step(action)
    agent.update(state, action, reward, next_state, terminated)
    total_reward += reward
    state = next_state
    if terminated or truncated:
        reward_history.append(total_reward)
        state, total_reward = env.reset()[0], 0.0
