"""Two objectives and a utility of the whole episode's return, known when it ends. The buffer is never emptied: the
return of an episode is the sum of the rewards of all episodes so far, and all their actions are reinforced with it.

Round 17
Class: meaning
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1710)
rng = np.random.default_rng(1710)
STEPS, OBJECTIVES = 8, 2


class FishAndWood:
    """At the river there may be fish, in the wood there is wood; both are needed, and the day is short."""

    def reset(self):
        self.place, self.t = 0, 0
        return self.observe()

    def observe(self):
        return np.array([self.place == 0, self.place == 1, self.t / STEPS], np.float32)

    def step(self, action):
        found = rng.random() < (0.6 if self.place == 0 else 0.9)
        reward = np.zeros(OBJECTIVES, np.float32)
        reward[self.place] = float(found and action == self.place)
        self.place, self.t = action, self.t + 1
        return self.observe(), reward, self.t == STEPS


def utility(returns):
    """As much as the scarcer of the two allows."""
    return min(float(returns[0]), float(returns[1]) / 2)


class EpisodeBuffer:
    def __init__(self, capacity):
        self.capacity, self.size = capacity, 0
        self.obs = np.zeros((capacity, 3), np.float32)
        self.accrued = np.zeros((capacity, OBJECTIVES), np.float32)
        self.actions = np.zeros(capacity, np.int64)
        self.rewards = np.zeros((capacity, OBJECTIVES), np.float32)

    def add(self, obs, accrued, action, reward):
        row, self.size = self.size, self.size + 1
        self.obs[row], self.accrued[row] = obs, accrued
        self.actions[row], self.rewards[row] = action, reward

    def everything(self):
        arrays = (self.obs, self.accrued, self.actions, self.rewards)
        return tuple(torch.tensor(array[: self.size]) for array in arrays)

    def clear(self):
        self.size = 0


class UtilityPolicy(nn.Module):
    """Sees what was gathered so far, on which the best action depends."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3 + OBJECTIVES, 32), nn.Tanh(), nn.Linear(32, 2))

    def dist(self, obs, accrued):
        return Categorical(logits=self.body(torch.cat([obs, accrued], -1)))


class Agent:
    def __init__(self, env):
        self.env, self.policy = env, UtilityPolicy()
        self.buffer = EpisodeBuffer(capacity=STEPS * 200)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=4e-3)
        self.baseline, self.scores = 0.0, []

    def update(self):
        obs, accrued, actions, rewards = self.buffer.everything()  # BUG GS806
        gained = utility(rewards.sum(0))  # BUG GS806
        log_probs = self.policy.dist(obs, accrued).log_prob(actions)
        loss = -(log_probs * (gained - self.baseline)).mean()  # BUG GS806
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.baseline = 0.9 * self.baseline + 0.1 * gained

    def train(self, episodes):
        for _ in range(episodes):
            obs, accrued, end = self.env.reset(), np.zeros(OBJECTIVES, np.float32), False
            while not end:
                with torch.no_grad():
                    dist = self.policy.dist(torch.from_numpy(obs), torch.from_numpy(accrued))
                    action = dist.sample().item()
                after, reward, end = self.env.step(action)
                self.buffer.add(obs, accrued, action, reward)
                obs, accrued = after, accrued + reward
            self.update()  # BUG GS806
            self.scores.append(utility(accrued))


agent = Agent(FishAndWood())
agent.train(150)
print(f"utility {np.mean(agent.scores[:30]):.2f} → {np.mean(agent.scores[-30:]):.2f}")
