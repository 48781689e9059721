"""A2C on vector environments that start anew in the next step, in the same step, or when they are told to."""

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import nn

STEPS, COPIES, GAMMA = 16, 3, 0.98


def rollout(envs, mode, obs, ended, policy):
    rows = []
    for _ in range(STEPS):
        with torch.no_grad():
            action = torch.distributions.Categorical(logits=policy(torch.as_tensor(obs))).sample().numpy()
        following, reward, terminated, truncated, info = envs.step(action)
        over, real = terminated | truncated, following.copy()
        if mode is AutoresetMode.SAME_STEP:
            for i in np.flatnonzero(over):
                real[i] = info["final_obs"][i]
        valid = ~ended if mode is AutoresetMode.NEXT_STEP else np.ones(COPIES, dtype=bool)
        rows.append((obs, action, reward.astype(np.float32), real, terminated, valid))
        if mode is AutoresetMode.DISABLED and over.any():
            following, _ = envs.reset(options={"reset_mask": over})
        obs, ended = following.copy(), over
    return obs, ended, [torch.as_tensor(np.stack(part)) for part in zip(*rows, strict=True)]


def train(mode):
    envs = SyncVectorEnv(
        [lambda: gym.make("CartPole-v1", max_episode_steps=10)] * COPIES, autoreset_mode=mode
    )
    policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
    critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=1e-3)
    obs, _ = envs.reset(seed=0)
    ended = np.zeros(COPIES, dtype=bool)
    for _ in range(7):
        obs, ended, (s, a, r, s2, end, valid) = rollout(envs, mode, obs, ended, policy)
        s, s2, a, r, end = s[valid], s2[valid], a[valid], r[valid], end[valid].float()
        with torch.no_grad():
            target = r + GAMMA * (1 - end) * critic(s2).squeeze(-1)
        value = critic(s).squeeze(-1)
        advantage = (target - value).detach()
        log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        loss = (value - target).pow(2).mean() - (log_prob * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    envs.close()


torch.manual_seed(0)
for mode in AutoresetMode:
    train(mode)
