"""Advantages of shape [trajectories, time] are normalised over the trajectories; the collector gathers one.
Repaired here.

Round 22
Class: meaning
"""

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Categorical


def normalize(tensor, axes=(0,), epsilon=1e-8):
    mean = tensor.mean(dim=axes, keepdim=True)
    variance = tensor.var(dim=axes, keepdim=True, unbiased=False)
    return (tensor - mean) / (variance + epsilon).sqrt()


class Collector:
    def __init__(self, length):
        self.env = gym.make("CartPole-v1", max_episode_steps=10_000)
        self.obs, _ = self.env.reset(seed=2224)
        self.length = length

    @torch.no_grad()
    def __call__(self, actor):
        traj = {"obs": [], "action": [], "log_prob": [], "reward": [], "discount": []}
        for _ in range(self.length):
            obs = torch.as_tensor(self.obs)
            dist = Categorical(logits=actor(obs))
            action = dist.sample()
            self.obs, reward, terminated, _, _ = self.env.step(action.item())
            traj["obs"].append(obs)
            traj["action"].append(action)
            traj["log_prob"].append(dist.log_prob(action))
            traj["reward"].append(torch.tensor(float(reward)))
            traj["discount"].append(torch.tensor(0.97 * (not terminated)))
            if terminated:
                self.obs, _ = self.env.reset()
        return {key: torch.stack(column).unsqueeze(0) for key, column in traj.items()}, torch.as_tensor(
            self.obs
        )


class PPOAgent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
        self.value = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam([*self.actor.parameters(), *self.value.parameters()], lr=1e-3)

    @torch.no_grad()
    def preprocess(self, traj, last_obs):
        values = self.value(traj["obs"]).squeeze(-1)
        following = torch.cat([values[:, 1:], self.value(last_obs).view(1, 1)], dim=1)
        deltas = traj["reward"] + traj["discount"] * following - values
        advantages, running = torch.zeros_like(deltas), torch.zeros(len(deltas))
        for t in reversed(range(deltas.shape[1])):
            running = deltas[:, t] + 0.95 * traj["discount"][:, t] * running
            advantages[:, t] = running
        return normalize(advantages, axes=(0, 1)), advantages + values

    def train(self, traj, last_obs):
        advantages, returns = self.preprocess(traj, last_obs)
        for _ in range(4):
            dist = Categorical(logits=self.actor(traj["obs"]))
            ratio = (dist.log_prob(traj["action"]) - traj["log_prob"]).exp()
            surrogate = torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
            value_loss = (self.value(traj["obs"]).squeeze(-1) - returns).square().mean()
            loss = -surrogate + 0.5 * value_loss - 0.001 * dist.entropy().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


torch.manual_seed(2224)
collector, agent = Collector(length=48), PPOAgent()
for iteration in range(10):
    loss = agent.train(*collector(agent.actor))
    if iteration % 3 == 0:
        print(iteration, round(loss, 3))
