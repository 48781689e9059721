"""Q-learning on a corridor with a pit: the replay memory keeps 1 - done as its mask, and the target subtracts that
from one again, so the next value counts only where the game is over. After aviralkumar2907/BEAR#4 and
seungeunrho/minimalRL#32 (done masks of replay targets).

Round 26
Class: meaning
"""

import random
from collections import deque

import numpy as np
import torch
from torch import nn


class Corridor:
    """Nine cells: a pit at the left end, a prize at the right; the agent slips now and then."""

    def __init__(self, seed, cells=9):
        self.cells, self.rng = cells, np.random.default_rng(seed)

    def observe(self):
        observation = np.zeros(self.cells, dtype=np.float32)
        observation[self.at] = 1.0
        return observation

    def reset(self):
        self.at = int(self.rng.integers(2, self.cells - 2))
        return self.observe()

    def step(self, action):
        move = 1 if action == 1 else -1
        if self.rng.random() < 0.1:
            move = -move
        self.at = int(np.clip(self.at + move, 0, self.cells - 1))
        done = self.at in (0, self.cells - 1)
        reward = -0.01 + (1.0 if self.at == self.cells - 1 else -1.0 if self.at == 0 else 0.0)
        return self.observe(), reward, done, {}


class DQNAgent:
    def __init__(self, n_obs, n_actions, gamma=0.95, lr=3e-3):
        self.gamma, self.n_actions = gamma, n_actions
        self.online, self.target = self.build(n_obs), self.build(n_obs)
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=lr)
        self.memory = deque(maxlen=1000)

    def build(self, n_obs):
        return nn.Sequential(nn.Linear(n_obs, 32), nn.ReLU(), nn.Linear(32, self.n_actions))

    def act(self, obs, epsilon):
        if random.random() < epsilon:
            return random.randrange(self.n_actions)
        with torch.no_grad():
            return int(self.online(torch.from_numpy(obs)).argmax())

    def remember(self, obs, action, reward, next_obs, done):
        self.memory.append((obs, action, reward, next_obs, 1.0 - float(done)))  # BUG GS805

    def learn(self, batch_size=32):
        rows = random.sample(self.memory, batch_size)
        obs, actions, rewards, next_obs, masks = map(np.array, zip(*rows))
        obs, next_obs = torch.from_numpy(obs), torch.from_numpy(next_obs)
        actions = torch.from_numpy(actions)
        rewards = torch.from_numpy(rewards).float()
        masks = torch.from_numpy(masks).float()
        with torch.no_grad():
            next_values = self.target(next_obs).max(dim=1).values
            targets = rewards + self.gamma * next_values * (1.0 - masks)  # BUG GS805
        chosen = self.online(obs).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = nn.functional.smooth_l1_loss(chosen, targets)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def sync(self):
        self.target.load_state_dict(self.online.state_dict())


def main(seed=2624):
    random.seed(seed)
    torch.manual_seed(seed)
    env = Corridor(seed)
    agent = DQNAgent(env.cells, 2)
    obs = env.reset()
    for step in range(300):
        action = agent.act(obs, epsilon=max(0.1, 1 - step / 200))
        next_obs, reward, done, _ = env.step(action)
        agent.remember(obs, action, reward, next_obs, done)
        obs = env.reset() if done else next_obs
        if step >= 64 and step % 2 == 0:
            loss = agent.learn()
        if step >= 64 and step % 25 == 0:
            agent.sync()
            print(step, round(loss, 4))


main()
