"""Deep Q-learning on CartPole: the memory keeps the ends, the target does not ask for them.
Repaired here.

Round 22
Class: meaning
"""

import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
from torch import nn, optim


class QNet(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.fc1 = nn.Linear(n_obs, 64)
        self.fc2 = nn.Linear(64, n_act)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


class DQNAgent:
    def __init__(self, env, gamma=0.97, batch_size=32):
        self.env, self.gamma, self.batch_size = env, gamma, batch_size
        self.current_model, self.target_model = QNet(4, 2), QNet(4, 2)
        self.target_model.load_state_dict(self.current_model.state_dict())
        self.optimizer = optim.Adam(self.current_model.parameters(), lr=1e-3)
        self.buffer, self.epsilon = deque(maxlen=1000), 1.0

    def get_action(self, state):
        if random.random() < self.epsilon:
            return random.randrange(2)
        with torch.no_grad():
            return self.current_model(torch.from_numpy(state)).argmax().item()

    def get_train_variables(self):
        transitions = random.sample(self.buffer, self.batch_size)
        states, actions, rewards, next_states, dones = zip(*transitions)
        return (
            torch.from_numpy(np.stack(states)),
            torch.tensor(actions),
            torch.tensor(rewards, dtype=torch.float32),
            torch.from_numpy(np.stack(next_states)),
            torch.tensor(dones, dtype=torch.float32),
        )

    def calculate_td_loss(self):
        states, actions, rewards, next_states, dones = self.get_train_variables()
        values = self.current_model(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        next_values = self.target_model(next_states).max(1)[0].detach()
        td_target = rewards + self.gamma * next_values * (1 - dones)
        loss = (values - td_target).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def learn(self, max_steps):
        state, _ = self.env.reset(seed=2214)
        for step in range(max_steps):
            action = self.get_action(state)
            next_state, reward, terminated, truncated, _ = self.env.step(action)
            self.buffer.append((state, action, reward, next_state, terminated))
            state = self.env.reset()[0] if terminated or truncated else next_state
            self.epsilon = max(0.1, self.epsilon * 0.99)
            if step > 100 and step % 4 == 0:
                loss = self.calculate_td_loss()
            if step % 50 == 0:
                self.target_model.load_state_dict(self.current_model.state_dict())
        return loss


random.seed(2214)
torch.manual_seed(2214)
print(round(DQNAgent(gym.make("CartPole-v1")).learn(360), 3))
