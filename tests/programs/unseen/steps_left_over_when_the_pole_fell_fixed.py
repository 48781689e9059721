"""DQN on CartPole with three-step returns. When an episode ends, the steps that are left in the queue are
folded with what remains of the episode, and the next one begins with an empty queue.

Round 34
Class: meaning
"""

import copy
import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
from torch import nn

N_STEP = 3
GAMMA = 0.99
BATCH = 64


class NStepMemory:
    def __init__(self, capacity=5000):
        self.queue = deque(maxlen=N_STEP)
        self.memory = deque(maxlen=capacity)

    def push(self, obs, action, reward, next_obs, terminated, truncated):
        self.queue.append((obs, action, reward, next_obs, terminated))
        if len(self.queue) == N_STEP:
            self.memory.append(self.fold())
        if terminated or truncated:
            if len(self.queue) == N_STEP:
                self.queue.popleft()
            while self.queue:
                self.memory.append(self.fold())
                self.queue.popleft()

    def fold(self):
        obs, action = self.queue[0][:2]
        total = sum(GAMMA**i * step[2] for i, step in enumerate(self.queue))
        next_obs, terminated = self.queue[-1][3:]
        discount = GAMMA ** len(self.queue) * (not terminated)
        return obs, action, np.float32(total), next_obs, np.float32(discount)

    def sample(self, size):
        columns = zip(*random.sample(self.memory, size))
        return [torch.as_tensor(np.stack(column)) for column in columns]


class DQN:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
        self.target = copy.deepcopy(self.net)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    @torch.no_grad()
    def act(self, obs, epsilon):
        if random.random() < epsilon:
            return random.randrange(2)
        return self.net(torch.from_numpy(obs)).argmax().item()

    def update(self, batch):
        obs, action, reward, next_obs, discount = batch
        q = self.net(obs).gather(1, action[:, None]).squeeze(1)
        with torch.no_grad():
            y = reward + discount * self.target(next_obs).max(dim=1).values
        loss = nn.functional.smooth_l1_loss(q, y)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 10.0)
        self.optimizer.step()

    def sync(self):
        self.target.load_state_dict(self.net.state_dict())


def main(steps=900):
    random.seed(346)
    torch.manual_seed(346)
    env, agent, memory = gym.make("CartPole-v1"), DQN(), NStepMemory()
    obs, _ = env.reset(seed=346)
    length, lengths = 0, []
    for step in range(1, steps + 1):
        action = agent.act(obs, epsilon=max(0.1, 1 - step / 500))
        next_obs, reward, terminated, truncated, _ = env.step(action)
        memory.push(obs, action, reward, next_obs, terminated, truncated)
        obs, length = next_obs, length + 1
        if terminated or truncated:
            lengths.append(length)
            obs, _ = env.reset()
            length = 0
        if step > 200 and step % 4 == 0:
            agent.update(memory.sample(BATCH))
        if step % 100 == 0:
            agent.sync()
    env.close()
    print(f"{len(lengths)} episodes, the last ten lasted {np.mean(lengths[-10:]):.1f} steps")


main()
