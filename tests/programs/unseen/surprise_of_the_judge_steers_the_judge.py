"""Advantage actor-critic on CartPole with one optimizer for both halves and rollouts of 32 steps. The
temporal-difference error that the critic is fitted with also weighs the log-probabilities, and it goes into
that product with its graph, so the actor's term trains the critic as well.

Round 33
Class: weights
"""

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

SEED = 33
GAMMA = 0.99
ROLLOUT = 32
UPDATES = 80

torch.manual_seed(SEED)
np.random.seed(SEED)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 64)
        self.fc2 = nn.Linear(64, 2)

    def forward(self, x):
        return Categorical(logits=self.fc2(torch.tanh(self.fc1(x))))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 64)
        self.fc2 = nn.Linear(64, 1)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x))).squeeze(-1)


actor, critic = Actor(), Critic()
optimizer = torch.optim.Adam([{"params": actor.parameters()}, {"params": critic.parameters()}], lr=1e-3)


def learn(rollout):
    obs, action, reward, next_obs, terminated = (torch.as_tensor(np.stack(x)) for x in zip(*rollout))
    dist = actor(obs)
    value = critic(obs)
    with torch.no_grad():
        next_value = critic(next_obs)
    td_error = reward + GAMMA * next_value * (1 - terminated) - value  # BUG GS303
    critic_loss = td_error.pow(2).mean()
    actor_loss = -(dist.log_prob(action) * td_error).mean()  # BUG GS303 GS304
    loss = actor_loss + 0.5 * critic_loss - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 1.0)
    optimizer.step()
    return critic_loss.item()


env = gym.make("CartPole-v1")
obs, _ = env.reset(seed=SEED)
episode_return, history = 0.0, []
for update in range(UPDATES):
    rollout = []
    for _ in range(ROLLOUT):
        with torch.no_grad():
            action = actor(torch.from_numpy(obs)).sample().item()
        next_obs, reward, terminated, truncated, _ = env.step(action)
        rollout.append((obs, action, np.float32(reward), next_obs, np.float32(terminated)))
        episode_return += reward
        obs = next_obs
        if terminated or truncated:
            history.append(episode_return)
            episode_return = 0.0
            obs, _ = env.reset()
    critic_error = learn(rollout)
    if update % 20 == 19:
        print(f"update {update + 1}: critic error {critic_error:.3f}, return {np.mean(history[-10:]):.1f}")
env.close()
