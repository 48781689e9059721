"""Proximal policy optimisation of an arm with two joints on vectorised copies: the log-prob keeps a column for
each joint, so there are two ratios for one action, each clipped for itself. After AI4Finance-
Foundation/ElegantRL#273 and thu-ml/tianshou#162.

Round 26
Class: meaning
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

COPIES, STEPS, EPOCHS, UPDATES = 4, 40, 4, 10
GAMMA, LAMBDA, CLIP, SEED = 0.95, 0.95, 0.2, 2633


class TwoJointArm(gym.Env):
    """Turn two joints so that the hand comes near a point; the game is over when it is there."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (6,), np.float32)
    action_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.angles = self.np_random.uniform(-np.pi, np.pi, 2)
        self.goal = self.np_random.uniform(-1.2, 1.2, 2)
        return self._observe(), {}

    def _hand(self):
        first, second = self.angles[0], self.angles.sum()
        return np.array([np.cos(first) + np.cos(second), np.sin(first) + np.sin(second)])

    def _observe(self):
        return np.concatenate([np.cos(self.angles), np.sin(self.angles), self.goal - self._hand()]).astype(
            np.float32
        )

    def step(self, action):
        self.angles = self.angles + 0.3 * np.tanh(action)
        distance = float(np.linalg.norm(self.goal - self._hand()))
        return self._observe(), -distance, distance < 0.2, False, {}


class ArmPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(6, 48), nn.Tanh(), nn.Linear(48, 2))
        self.value = nn.Sequential(nn.Linear(6, 48), nn.Tanh(), nn.Linear(48, 1))
        self.log_std = nn.Parameter(torch.full((2,), -0.5))

    def distribution(self, obs):
        return Normal(self.mean(obs), self.log_std.exp())

    def log_prob(self, dist, actions):
        return dist.log_prob(actions)  # BUG GS603


def compute_gae(rewards, values, ends, last_value):
    advantages, carry = torch.zeros_like(rewards), torch.zeros(COPIES, 1)
    for t in reversed(range(STEPS)):
        following = last_value if t == STEPS - 1 else values[t + 1]
        delta = rewards[t] + GAMMA * following * (1 - ends[t]) - values[t]
        carry = delta + GAMMA * LAMBDA * (1 - ends[t]) * carry
        advantages[t] = carry
    return advantages


@torch.no_grad()
def collect(envs, policy, obs):
    rows = []
    for _ in range(STEPS):
        dist = policy.distribution(obs)
        actions = dist.sample()
        following, reward, terminated, _, _ = envs.step(actions.numpy())
        reward, end = (torch.as_tensor(x, dtype=torch.float32).unsqueeze(1) for x in (reward, terminated))
        logps = policy.log_prob(dist, actions)  # BUG GS603
        rows.append((obs, actions, logps, reward, policy.value(obs), end))
        obs = torch.as_tensor(following)
    return [torch.stack(column) for column in zip(*rows)], obs


def update(policy, optimizer, obs, actions, old, advantages, returns):
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for _ in range(EPOCHS):
        dist = policy.distribution(obs)
        ratio = torch.exp(policy.log_prob(dist, actions) - old)  # BUG GS603
        surrogate = torch.min(ratio * advantages, ratio.clamp(1 - CLIP, 1 + CLIP) * advantages)  # BUG GS603
        value_loss = nn.functional.mse_loss(policy.value(obs), returns)
        loss = -surrogate.mean() + 0.5 * value_loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
        optimizer.step()


torch.manual_seed(SEED)
envs = gym.vector.SyncVectorEnv([TwoJointArm] * COPIES, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP)
policy = ArmPolicy()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
obs = torch.as_tensor(envs.reset(seed=SEED)[0])
for number in range(UPDATES):
    (states, actions, old, rewards, values, ends), obs = collect(envs, policy, obs)
    with torch.no_grad():
        advantages = compute_gae(rewards, values, ends, policy.value(obs))
    columns = (states, actions, old, advantages, advantages + values)
    update(policy, optimizer, *(column.flatten(0, 1) for column in columns))
    print(number, round(rewards.mean().item(), 3))
