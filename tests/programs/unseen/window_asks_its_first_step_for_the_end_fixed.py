"""Deep Q-learning on CartPole with returns of three steps that are gathered in a small window. Whether the
pole fell is asked of the window's last transition, where the return ends.

Round 33
Class: meaning
"""

import random
from collections import deque
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class Step(NamedTuple):
    obs: np.ndarray
    action: int
    reward: float
    next_obs: np.ndarray
    terminated: bool


class NStepReplay:
    def __init__(self, n, gamma, size=5000):
        self.n, self.gamma = n, gamma
        self.window = deque()
        self.storage = deque(maxlen=size)

    def push(self, step, ended):
        self.window.append(step)
        if len(self.window) == self.n:
            self.store()
        if ended:
            while self.window:
                self.store()

    def store(self):
        first, last = self.window[0], self.window[-1]
        total = sum(self.gamma**k * step.reward for k, step in enumerate(self.window))
        discount = self.gamma ** len(self.window)
        going_on = 0.0 if last.terminated else 1.0
        self.storage.append((first.obs, first.action, total, last.next_obs, discount * going_on))
        self.window.popleft()

    def sample(self, batch_size):
        obs, action, total, next_obs, discount = zip(*random.sample(self.storage, batch_size))
        return (
            torch.from_numpy(np.stack(obs)),
            torch.tensor(action),
            torch.tensor(total, dtype=torch.float32),
            torch.from_numpy(np.stack(next_obs)),
            torch.tensor(discount, dtype=torch.float32),
        )


def q_network():
    return nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))


def update(online, target, optimizer, replay):
    obs, action, total, next_obs, discount = replay.sample(64)
    q = online(obs).gather(1, action.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        wanted = total + discount * target(next_obs).max(1).values
    loss = nn.functional.mse_loss(q, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(seed=8):
    random.seed(seed)
    torch.manual_seed(seed)
    env = gym.make("CartPole-v1")
    online, target = q_network(), q_network()
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
    replay = NStepReplay(n=3, gamma=0.97)
    obs, _ = env.reset(seed=seed)
    for t in range(900):
        if random.random() < max(0.1, 1.0 - t / 500):
            action = random.randrange(2)
        else:
            with torch.no_grad():
                action = online(torch.from_numpy(obs)).argmax().item()
        next_obs, reward, terminated, truncated, _ = env.step(action)
        replay.push(Step(obs, action, float(reward), next_obs, terminated), terminated or truncated)
        obs = env.reset()[0] if terminated or truncated else next_obs
        if t >= 200 and t % 4 == 0:
            loss = update(online, target, optimizer, replay)
        if t % 100 == 99:
            target.load_state_dict(online.state_dict())
            if t > 200:
                print(f"{t + 1}: loss {loss:.4f}")
    env.close()


main()
