"""A rollout buffer of NumPy arrays stores the ends that the step has just returned, but its estimator reads them as
flags of the observation that begins a row.
Repaired here.

Round 22
Class: meaning
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

ENVS, STEPS, GAMMA, LAMBDA = 4, 32, 0.98, 0.95


class RolloutBuffer:
    def __init__(self):
        self.reset()

    def reset(self):
        self.observations = np.zeros((STEPS, ENVS, 4), np.float32)
        self.actions = np.zeros((STEPS, ENVS), np.int64)
        self.rewards, self.values = np.zeros((STEPS, ENVS), np.float32), np.zeros((STEPS, ENVS), np.float32)
        self.log_probs, self.dones = np.zeros((STEPS, ENVS), np.float32), np.zeros((STEPS, ENVS), np.float32)
        self.pos = 0

    def add(self, obs, action, reward, done, value, log_prob):
        self.observations[self.pos], self.actions[self.pos] = obs, action
        self.rewards[self.pos], self.dones[self.pos] = reward, done
        self.values[self.pos], self.log_probs[self.pos] = value, log_prob
        self.pos += 1

    def compute_returns_and_advantage(self, last_values, last_dones):
        self.advantages = np.zeros_like(self.rewards)
        last_gae = 0.0
        for step in reversed(range(STEPS)):
            if step == STEPS - 1:
                alive, next_values = 1.0 - last_dones, last_values
            else:
                alive, next_values = 1.0 - self.dones[step + 1], self.values[step + 1]
            delta = self.rewards[step] + GAMMA * next_values * alive - self.values[step]
            last_gae = delta + GAMMA * LAMBDA * alive * last_gae
            self.advantages[step] = last_gae
        self.returns = self.advantages + self.values


def make():
    return gym.make("CartPole-v1", max_episode_steps=100000)


torch.manual_seed(2217)
envs = gym.vector.SyncVectorEnv([make] * ENVS, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
value_net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *value_net.parameters()], lr=2e-3)
buffer = RolloutBuffer()
last_obs, _ = envs.reset(seed=2217)
last_dones = np.zeros(ENVS, np.float32)
for iteration in range(10):
    buffer.reset()
    for _ in range(STEPS):
        with torch.no_grad():
            obs = torch.as_tensor(last_obs)
            dist = Categorical(logits=policy(obs))
            action = dist.sample()
            value, log_prob = value_net(obs).squeeze(1), dist.log_prob(action)
        new_obs, reward, terminated, truncated, _ = envs.step(action.numpy())
        dones = terminated.astype(np.float32)
        said = value.numpy(), log_prob.numpy()
        buffer.add(last_obs, action.numpy(), reward, last_dones, *said)
        last_obs, last_dones = new_obs, dones
    with torch.no_grad():
        last_values = value_net(torch.as_tensor(last_obs)).squeeze(1).numpy()
    buffer.compute_returns_and_advantage(last_values, last_dones)
    columns = (buffer.observations, buffer.actions, buffer.log_probs, buffer.advantages, buffer.returns)
    flat = [torch.from_numpy(x.reshape(STEPS * ENVS, *x.shape[2:])) for x in columns]
    for rows in torch.randperm(STEPS * ENVS).split(32):
        obs, act, old, adv, ret = (column[rows] for column in flat)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        ratio = (Categorical(logits=policy(obs)).log_prob(act) - old).exp()
        loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
        loss = loss + 0.5 * (value_net(obs).squeeze(1) - ret).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(iteration, round(loss.item(), 3))
