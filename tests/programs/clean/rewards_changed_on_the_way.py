"""Rewards that a wrapper or the script normalises, clips, scales or shapes; stacked frames."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn


def environment(kind):
    env = gym.make("CartPole-v1", max_episode_steps=20)
    if kind == "normalised":
        return gym.wrappers.NormalizeReward(gym.wrappers.NormalizeObservation(env))
    if kind == "transformed":
        return gym.wrappers.TransformReward(env, lambda r: 0.1 * r)
    if kind == "stacked":
        return gym.wrappers.FlattenObservation(gym.wrappers.FrameStackObservation(env, 3))
    return env


def reward_of(kind, reward, obs, end, spread):
    if kind == "own scale":
        return reward / 10.0
    if kind == "own shape":
        return -5.0 if end else reward - 0.1 * abs(float(obs[2]))
    if kind == "own clip":
        return float(np.clip(reward - 0.3 * abs(float(obs[0])), -1.0, 1.0))
    return reward / spread if kind == "running" else reward


def train(kind):
    env = environment(kind)
    size = env.observation_space.shape[0]
    policy = nn.Sequential(nn.Linear(size, 16), nn.Tanh(), nn.Linear(16, 2))
    critic = nn.Sequential(nn.Linear(size, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=1e-3)
    obs, _ = env.reset(seed=0)
    spread = 1.0
    for _ in range(3):
        rows = []
        for _ in range(32):
            x = torch.as_tensor(obs, dtype=torch.float32)
            with torch.no_grad():
                action = int(torch.distributions.Categorical(logits=policy(x)).sample())
            following, reward, terminated, truncated, _ = env.step(action)
            spread += 0.01
            rows.append(
                (
                    obs,
                    action,
                    reward_of(kind, reward, following, terminated, spread),
                    following,
                    terminated,
                    truncated,
                )
            )
            obs = env.reset()[0] if terminated or truncated else following
        s, a, r, s2, end, cut = (np.array(part) for part in zip(*rows, strict=True))
        s, s2 = torch.as_tensor(s, dtype=torch.float32), torch.as_tensor(s2, dtype=torch.float32)
        with torch.no_grad():
            following = critic(s2).squeeze(-1).numpy()
        returns = np.zeros(32, dtype=np.float32)
        running = following[-1]
        for t in reversed(range(32)):
            running = 0.0 if end[t] else following[t] if cut[t] else running
            running = r[t] + 0.95 * running
            returns[t] = running
        one_step = torch.as_tensor(r).float() + 0.95 * torch.as_tensor(~end).float() * torch.as_tensor(
            following
        )
        value = critic(s).squeeze(-1)
        log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(torch.as_tensor(a))
        weight = torch.as_tensor((returns - returns.mean()) / returns.std())
        loss = -(log_prob * weight).mean() + (value - one_step).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
for kind in ("normalised", "transformed", "stacked", "own scale", "own shape", "own clip", "running"):
    train(kind)
