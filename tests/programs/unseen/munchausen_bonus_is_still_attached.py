"""Munchausen DQN adds the scaled log-policy of the taken action to the reward. It is read from the learner itself and
nobody detaches it, so the regression moves its own target. After datawhalechina/easy-rl#117 (a TD target without
detach), in the form of vwxyzjn/cleanrl#466.

Round 27
Class: the line
"""

import copy
import random
from typing import NamedTuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Transition(NamedTuple):
    obs: np.ndarray
    action: int
    reward: float
    next_obs: np.ndarray
    terminated: float


class Pendulum2:
    """Keep a falling rod upright with three pushes; it ends when the rod lies."""

    def reset(self):
        self.angle, self.speed, self.t = random.uniform(-0.1, 0.1), 0.0, 0
        return self._obs()

    def _obs(self):
        return np.array([self.angle, self.speed], dtype=np.float32)

    def step(self, action):
        self.t += 1
        self.speed += 0.08 * self.angle + 0.05 * (action - 1)
        self.angle += self.speed
        fallen = abs(self.angle) > 0.6
        return self._obs(), 0.0 if fallen else 0.2, fallen, self.t >= 60


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 3)
        )

    def forward(self, x):
        return self.network(x)


class MunchausenAgent:
    gamma, tau, alpha, floor = 0.97, 0.03, 0.9, -1.0

    def __init__(self):
        self.q = QNetwork()
        self.target = copy.deepcopy(self.q).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=1e-3)
        self.updates = 0

    def act(self, obs):
        with torch.no_grad():
            probs = F.softmax(self.q(torch.from_numpy(obs)) / self.tau, dim=-1)
        return int(torch.multinomial(0.95 * probs + 0.05 / 3, 1))

    def soft_value(self, next_obs):
        q = self.target(next_obs)
        log_pi = F.log_softmax(q / self.tau, dim=1)
        return (log_pi.exp() * (q - self.tau * log_pi)).sum(1)

    def bonus(self, obs, actions):
        log_pi = F.log_softmax(self.q(obs) / self.tau, dim=1)  # BUG GS301
        taken = log_pi.gather(1, actions[:, None]).squeeze(1)
        return self.alpha * (self.tau * taken).clamp(self.floor, 0.0)

    def learn(self, rows):
        obs, actions, rewards, next_obs, ends = (torch.as_tensor(np.array(c)) for c in zip(*rows))
        future = (1 - ends.float()) * self.soft_value(next_obs)
        target = rewards.float() + self.bonus(obs, actions) + self.gamma * future  # BUG GS301
        prediction = self.q(obs).gather(1, actions[:, None]).squeeze(1)
        loss = F.smooth_l1_loss(prediction, target)  # BUG GS301
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % 20 == 0:
            self.target.load_state_dict(self.q.state_dict())
        return loss.item()


def main(seed=2708):
    random.seed(seed)
    torch.manual_seed(seed)
    env, agent, memory = Pendulum2(), MunchausenAgent(), []
    obs, lengths = env.reset(), []
    for step in range(400):
        action = agent.act(obs)
        next_obs, reward, terminated, truncated = env.step(action)
        memory.append(Transition(obs, action, reward, next_obs, float(terminated)))
        obs = next_obs
        if terminated or truncated:
            lengths.append(env.t)
            obs = env.reset()
        if step >= 100 and step % 3 == 0:
            loss = agent.learn(random.sample(memory, 32))
    print("loss", loss, "episode lengths", lengths[-5:])


main()
