"""Proximal policy optimisation on vectorised CartPoles, written for copies that reset themselves in the same step:
since gymnasium 1.0 they do it in the next one, and the rollout keeps that step (no action, no reward) as a
bridge into the next game. After Farama-Foundation/Gymnasium#1103 and vwxyzjn/cleanrl#499.

Round 26
Class: meaning
"""

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import nn
from torch.distributions import Categorical

NUM_ENVS, NUM_STEPS, GAMMA, LAMBDA, CLIP = 3, 48, 0.99, 0.95, 0.2
UPDATES, EPOCHS, SEED = 10, 3, 2627


def make_vector_env():
    makers = [lambda: gym.make("CartPole-v1") for _ in range(NUM_ENVS)]
    return SyncVectorEnv(makers, autoreset_mode=AutoresetMode.NEXT_STEP)  # BUG GS805 GS806


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh())
        self.logits, self.value = nn.Linear(48, 2), nn.Linear(48, 1)

    def forward(self, obs):
        hidden = self.trunk(torch.as_tensor(obs, dtype=torch.float32))
        return Categorical(logits=self.logits(hidden)), self.value(hidden).squeeze(-1)


def compute_gae(rewards, values, ends, last_value):
    advantages = np.zeros_like(rewards)
    carry = np.zeros(NUM_ENVS, dtype=np.float32)
    for t in range(NUM_STEPS - 1, -1, -1):
        following = last_value if t == NUM_STEPS - 1 else values[t + 1]
        alive = 1.0 - ends[t]
        delta = rewards[t] + GAMMA * alive * following - values[t]  # BUG GS805 GS806
        carry = delta + GAMMA * LAMBDA * alive * carry  # BUG GS805 GS806
        advantages[t] = carry
    return advantages


class Collector:
    def __init__(self, envs, agent):
        self.envs, self.agent = envs, agent
        self.obs, _ = envs.reset(seed=SEED)

    @torch.no_grad()
    def rollout(self):
        obs = np.zeros((NUM_STEPS, NUM_ENVS, 4), dtype=np.float32)
        actions = np.zeros((NUM_STEPS, NUM_ENVS), dtype=np.int64)
        logps, values, rewards, ends = (np.zeros((NUM_STEPS, NUM_ENVS), dtype=np.float32) for _ in range(4))
        for t in range(NUM_STEPS):
            dist, value = self.agent(self.obs)
            action = dist.sample()
            obs[t], actions[t], values[t] = self.obs, action, value
            logps[t] = dist.log_prob(action)
            self.obs, rewards[t], terminated, truncated, _ = self.envs.step(action.numpy())
            ends[t] = terminated | truncated
        advantages = compute_gae(rewards, values, ends, self.agent(self.obs)[1].numpy())
        columns = (obs, actions, logps, advantages, advantages + values)
        return [torch.from_numpy(c.reshape(-1, *c.shape[2:])) for c in columns], int(ends.sum())


def update(agent, optimizer, obs, actions, old_logps, advantages, returns):
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(obs)).chunk(3):
            dist, values = agent(obs[rows])
            ratio = (dist.log_prob(actions[rows]) - old_logps[rows]).exp()
            gain = torch.min(ratio * advantages[rows], ratio.clamp(1 - CLIP, 1 + CLIP) * advantages[rows])
            loss = -gain.mean() + 0.5 * (values - returns[rows]).pow(2).mean() - 0.01 * dist.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


torch.manual_seed(SEED)
agent = Agent()
collector = Collector(make_vector_env(), agent)
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
for number in range(UPDATES):
    batch, games = collector.rollout()
    update(agent, optimizer, *batch)
    print(f"update {number}: {games} games ended")
