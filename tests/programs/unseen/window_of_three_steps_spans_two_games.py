"""Q-learning with returns of three steps on CartPole: the sliding window is not emptied when the pole falls, so
its first states are joined with rewards and a last state of the next game. After BY571/DQN-Atari-Agents#8 and
younggyoseo/FastTD3#6.

Round 26
Class: meaning
"""

import random
from collections import deque
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import torch
from torch import nn

GAMMA, N_STEPS, BATCH, STEPS, SEED = 0.98, 3, 32, 360, 2628


class Step(NamedTuple):
    obs: np.ndarray
    action: int
    reward: float
    next_obs: np.ndarray
    terminated: bool


class NStepMemory:
    def __init__(self, capacity):
        self.window, self.rows = deque(), deque(maxlen=capacity)

    def push(self, step):
        self.window.append(step)  # BUG GS806 GS805
        if len(self.window) == N_STEPS:
            self.fold()

    def fold(self):
        first, last = self.window[0], self.window[-1]
        total = sum(GAMMA**k * step.reward for k, step in enumerate(self.window))  # BUG GS806 GS805
        discount = 0.0 if last.terminated else GAMMA ** len(self.window)
        self.rows.append((first.obs, first.action, total, last.next_obs, discount))
        self.window.popleft()

    def finish(self):
        while self.window:
            self.fold()

    def sample(self):
        columns = zip(*random.sample(self.rows, BATCH))
        obs, actions, totals, following, discounts = (np.array(column) for column in columns)
        return (
            torch.from_numpy(obs),
            torch.from_numpy(actions).unsqueeze(1),
            torch.from_numpy(totals).float(),
            torch.from_numpy(following),
            torch.from_numpy(discounts).float(),
        )


def q_network():
    return nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 2))


def learn(online, target, optimizer, batch):
    obs, actions, totals, following, discounts = batch
    with torch.no_grad():
        best = online(following).argmax(dim=1, keepdim=True)
        targets = totals + discounts * target(following).gather(1, best).squeeze(1)  # BUG GS806 GS805
    loss = nn.functional.smooth_l1_loss(online(obs).gather(1, actions).squeeze(1), targets)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(online.parameters(), 10.0)
    optimizer.step()
    return loss.item()


def main():
    random.seed(SEED)
    torch.manual_seed(SEED)
    env = gym.make("CartPole-v1")
    online, target = q_network(), q_network()
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.Adam(online.parameters(), lr=2e-3)
    memory = NStepMemory(1000)
    obs, _ = env.reset(seed=SEED)
    for step in range(STEPS):
        if random.random() < max(0.1, 1 - step / 250):
            action = random.randrange(2)
        else:
            with torch.no_grad():
                action = int(online(torch.from_numpy(obs)).argmax())
        next_obs, reward, terminated, truncated, _ = env.step(action)
        memory.push(Step(obs, action, reward, next_obs, terminated))
        obs = next_obs
        if terminated or truncated:
            obs, _ = env.reset()
        if step > 80 and step % 3 == 0:
            loss = learn(online, target, optimizer, memory.sample())
        if step > 80 and step % 60 == 0:
            target.load_state_dict(online.state_dict())
            print(step, round(loss, 4))


main()
