"""A memory is one NumPy matrix of [state, action, reward, next state]: that a state was the last one is neither
stored nor asked for.

Round 22
Class: meaning
"""

import numpy as np
import torch
from torch import nn


class Maze:
    """Four rooms in a row with a pit at the left and a prize at the right; built like a small game, not like a gym."""

    n_actions, n_features = 2, 2

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.x = float(self.rng.uniform(-0.4, 0.4))
        return np.array([self.x, self.x**2], dtype=np.float32)

    def step(self, action):
        self.x += 0.25 if action == 1 else -0.25
        self.x += float(self.rng.normal(0, 0.03))
        reward, done = 0.0, False
        if self.x > 1.0:
            reward, done = 1.0, True
        elif self.x < -1.0:
            reward, done = -1.0, True
        return np.array([self.x, self.x**2], dtype=np.float32), reward, done


class DeepQNetwork:
    def __init__(self, n_actions, n_features, memory_size=400, batch_size=32):
        self.n_features, self.batch_size, self.gamma = n_features, batch_size, 0.9
        self.memory = np.zeros((memory_size, n_features * 2 + 2), dtype=np.float32)
        self.memory_counter, self.learn_step_counter = 0, 0
        self.eval_net = nn.Sequential(nn.Linear(n_features, 20), nn.ReLU(), nn.Linear(20, n_actions))
        self.target_net = nn.Sequential(nn.Linear(n_features, 20), nn.ReLU(), nn.Linear(20, n_actions))
        self.target_net.load_state_dict(self.eval_net.state_dict())
        self.optimizer = torch.optim.RMSprop(self.eval_net.parameters(), lr=2e-3)
        self.rng = np.random.default_rng(15)

    def store_transition(self, s, a, r, s_):
        self.memory[self.memory_counter % len(self.memory)] = np.hstack((s, [a, r], s_))
        self.memory_counter += 1

    def choose_action(self, observation):
        if self.rng.uniform() < 0.8:
            with torch.no_grad():
                return int(self.eval_net(torch.from_numpy(observation)).argmax())
        return int(self.rng.integers(2))

    def learn(self):
        if self.learn_step_counter % 20 == 0:
            self.target_net.load_state_dict(self.eval_net.state_dict())
        index = self.rng.choice(min(self.memory_counter, len(self.memory)), self.batch_size)
        batch = torch.from_numpy(self.memory[index])
        s, s_ = batch[:, : self.n_features], batch[:, self.n_features + 2 : 2 * self.n_features + 2]
        action, reward = batch[:, self.n_features].long(), batch[:, self.n_features + 1]
        q_eval = self.eval_net(s)[torch.arange(self.batch_size), action]
        with torch.no_grad():
            q_next = self.target_net(s_).max(dim=1).values
        q_target = reward + self.gamma * q_next  # BUG GS805
        loss = nn.functional.mse_loss(q_eval, q_target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.learn_step_counter += 1


torch.manual_seed(2215)
env = Maze(np.random.default_rng(2215))
RL = DeepQNetwork(env.n_actions, env.n_features)
step = 0
for episode in range(40):
    observation = env.reset()
    while True:
        action = RL.choose_action(observation)
        observation_, reward, done = env.step(action)
        RL.store_transition(observation, action, reward, observation_)
        if step > 60 and step % 3 == 0:
            RL.learn()
        observation = observation_
        step += 1
        if done:
            break
print(step, RL.learn_step_counter)
