"""A dueling network builds its heads when the first observation comes in; the optimizer is made after that.

Round 29
Class: weights
"""

import copy

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class LazyDueling(nn.Module):
    """The width of the features is only known once they have been computed."""

    def __init__(self, n_actions):
        super().__init__()
        self.n_actions = n_actions
        self.body = nn.Sequential(nn.Unflatten(1, (1, 4)), nn.Conv1d(1, 12, 2), nn.ReLU(), nn.Flatten())
        self.value = self.advantage = None

    def forward(self, obs):
        features = self.body(obs)
        if self.value is None:
            width = features.shape[1]
            self.value = nn.Linear(width, 1)
            self.advantage = nn.Linear(width, self.n_actions)
        advantage = self.advantage(features)
        return self.value(features) + advantage - advantage.mean(1, keepdim=True)


class DuelingDQN:
    def __init__(self, n_actions, lr=1e-3, gamma=0.97):
        self.gamma = gamma
        self.online = LazyDueling(n_actions)
        self.online(torch.zeros(1, 4))
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=lr)
        self.target = copy.deepcopy(self.online).requires_grad_(False)

    @torch.no_grad()
    def greedy(self, obs):
        return self.online(torch.from_numpy(obs)[None]).argmax(1).item()

    def learn(self, obs, actions, rewards, following, ended):
        with torch.no_grad():
            best = self.online(following).argmax(1, keepdim=True)
            target = rewards + self.gamma * (1 - ended) * self.target(following).gather(1, best).squeeze(1)
        chosen = self.online(obs).gather(1, actions[:, None]).squeeze(1)
        loss = nn.functional.smooth_l1_loss(chosen, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


torch.manual_seed(2904)
rng = np.random.default_rng(2904)
env = gym.make("CartPole-v1")
agent = DuelingDQN(2)
store = {name: [] for name in ("obs", "actions", "rewards", "following", "ended")}
obs, _ = env.reset(seed=2904)
for step in range(300):
    action = int(rng.integers(2)) if rng.random() < 0.3 else agent.greedy(obs)
    following, reward, terminated, truncated, _ = env.step(action)
    for name, item in zip(store, (obs, action, np.float32(reward), following, np.float32(terminated))):
        store[name].append(item)
    obs = env.reset()[0] if terminated or truncated else following
    if step > 100:
        rows = rng.integers(len(store["obs"]), size=32)
        agent.learn(*(torch.from_numpy(np.stack([column[i] for i in rows])) for column in store.values()))
    if step % 40 == 0:
        agent.target.load_state_dict(agent.online.state_dict())
