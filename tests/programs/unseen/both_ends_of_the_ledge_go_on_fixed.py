"""Double DQN with a dueling head: the target takes no next value where the episode has terminated.

Round 28
Class: meaning
"""

import copy

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from gymnasium import spaces
from torch import nn


class Ledge(gym.Env):
    """Walk along seven stones; both ends terminate, the right one pays and the left one costs."""

    observation_space = spaces.Box(0.0, 1.0, (7,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.stone = 3
        return self._obs(), {}

    def _obs(self):
        return np.eye(7, dtype=np.float32)[self.stone]

    def step(self, action):
        slipped = self.np_random.random() < 0.1
        self.stone += 1 if (action == 1) != slipped else -1
        terminated = self.stone in (0, 6)
        reward = {0: -1.0, 6: 1.0}.get(self.stone, -0.02)
        return self._obs(), reward, terminated, False, {}


class DuelingQ(nn.Module):
    def __init__(self, n_obs, n_actions, width=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, width), nn.Tanh())
        self.value = nn.Linear(width, 1)
        self.advantage = nn.Linear(width, n_actions)

    def forward(self, obs):
        h = self.body(obs)
        a = self.advantage(h)
        return self.value(h) + a - a.mean(dim=-1, keepdim=True)


class Replay:
    def __init__(self, size, n_obs):
        self.obs = np.zeros((size, n_obs), np.float32)
        self.next_obs = np.zeros((size, n_obs), np.float32)
        self.actions = np.zeros(size, np.int64)
        self.rewards = np.zeros(size, np.float32)
        self.terminated = np.zeros(size, np.float32)
        self.size, self.n = size, 0

    def add(self, *row):
        i = self.n % self.size
        self.obs[i], self.actions[i], self.rewards[i], self.next_obs[i], self.terminated[i] = row
        self.n += 1

    def sample(self, batch, rng):
        i = rng.integers(0, min(self.n, self.size), batch)
        columns = (self.obs, self.actions, self.rewards, self.next_obs, self.terminated)
        return [torch.from_numpy(x[i]) for x in columns]


def train(steps=600, gamma=0.95, batch=32, seed=282):
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    env = Ledge()
    online = DuelingQ(7, 2)
    target = copy.deepcopy(online).requires_grad_(False)
    opt = torch.optim.Adam(online.parameters(), lr=2e-3)
    replay = Replay(1000, 7)
    obs, _ = env.reset(seed=seed)
    ends, replayed_ends = [], 0
    for step in range(steps):
        if rng.random() < max(0.1, 1 - step / 400):
            action = int(rng.integers(2))
        else:
            with torch.no_grad():
                action = int(online(torch.from_numpy(obs)).argmax())
        next_obs, reward, terminated, _, _ = env.step(action)
        replay.add(obs, action, reward, next_obs, terminated)
        obs = next_obs
        if terminated:
            ends.append(reward)
            obs, _ = env.reset()
        if step < 100 or step % 4:
            continue
        s, a, r, s2, d = replay.sample(batch, rng)
        replayed_ends += int(d.sum())
        with torch.no_grad():
            best = online(s2).argmax(1, keepdim=True)
            next_q = target(s2).gather(1, best).squeeze(1)
            y = r + gamma * (1 - d) * next_q
        q = online(s).gather(1, a.unsqueeze(1)).squeeze(1)
        loss = F.mse_loss(q, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 40 == 0:
            target.load_state_dict(online.state_dict())
    print(f"mean last reward of ten walks {np.mean(ends[-10:]):.2f}, ends replayed {replayed_ends}")


train()
