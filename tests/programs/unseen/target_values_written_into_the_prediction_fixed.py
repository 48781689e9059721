"""A Q-learner carried over from another library: the target is the network's output with the taken actions replaced.
There the output was an array of its own; here it is the prediction under a second name, and both change.
Repaired here.

Round 18
Class: hidden writes
"""

import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn

random.seed(1817)
np.random.seed(1817)
torch.manual_seed(1817)


class StockEnv:
    """A price goes up and down in waves; hold, buy or sell a single share."""

    action_size, state_size = 3, 4

    def reset(self):
        self.day, self.shift, self.share = 0, np.random.uniform(0, 6), 0
        return self._state()

    def _price(self, day):
        return 10 + 2 * np.sin(0.5 * day + self.shift)

    def _state(self):
        now = [self._price(self.day - k) - 10 for k in range(3)]
        return np.array([*now, self.share], dtype=np.float32)

    def step(self, action):
        self.share = {0: self.share, 1: 1, 2: 0}[action]
        gain = self.share * (self._price(self.day + 1) - self._price(self.day))
        self.day += 1
        return self._state(), gain, self.day == 30


class DQNAgent:
    def __init__(self, state_size, action_size):
        self.state_size, self.action_size = state_size, action_size
        self.memory = deque(maxlen=2000)
        self.gamma = 0.95
        self.epsilon, self.epsilon_min, self.epsilon_decay = 1.0, 0.01, 0.98
        self.model, self.target_model = self._build_model(), self._build_model()
        self.update_target_model()
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.002)

    def _build_model(self):
        return nn.Sequential(
            nn.Linear(self.state_size, 24),
            nn.ReLU(),
            nn.Linear(24, 24),
            nn.ReLU(),
            nn.Linear(24, self.action_size),
        )

    def update_target_model(self):
        self.target_model.load_state_dict(self.model.state_dict())

    def memorize(self, state, action, reward, next_state, done):
        self.memory.append((state, action, reward, next_state, done))

    def act(self, state):
        if np.random.rand() <= self.epsilon:
            return random.randrange(self.action_size)
        with torch.no_grad():
            return int(self.model(torch.from_numpy(state)).argmax())

    def replay(self, batch_size):
        minibatch = random.sample(self.memory, batch_size)
        states, actions, rewards, next_states, dones = (np.array(x) for x in zip(*minibatch))
        rewards, dones = torch.FloatTensor(rewards), torch.FloatTensor(dones)
        with torch.no_grad():
            t = self.target_model(torch.from_numpy(next_states)).max(1)[0]
        q_values = self.model(torch.from_numpy(states))
        target = q_values.detach().clone()
        target[np.arange(batch_size), actions] = rewards + self.gamma * t * (1 - dones)
        loss = self.criterion(q_values, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if self.epsilon > self.epsilon_min:
            self.epsilon *= self.epsilon_decay
        return loss.item()


env = StockEnv()
agent = DQNAgent(env.state_size, env.action_size)
batch_size = 20
for e in range(8):
    state, done, total = env.reset(), False, 0.0
    while not done:
        action = agent.act(state)
        next_state, reward, done = env.step(action)
        agent.memorize(state, action, reward, next_state, done)
        state, total = next_state, total + reward
        if len(agent.memory) > batch_size:
            agent.replay(batch_size)
    agent.update_target_model()
    print(f"episode: {e}, score: {total:.2f}, e: {agent.epsilon:.2}")
