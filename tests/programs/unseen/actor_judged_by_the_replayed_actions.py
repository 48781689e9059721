"""Agents with critics that see everybody: the actor's loss asks the critic for the value of the actions in the replay,
its own among them. The critic answers, the backward runs, and the actor has no part in it.

Round 16
Class: the line
"""

import copy
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1602)
rng = np.random.default_rng(1602)
AGENTS, OBS, ACT, GAMMA, TAU = 3, 4, 2, 0.9, 0.02


def mlp(inputs, outputs, *tail):
    return nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs), *tail)


class Agent:
    def __init__(self):
        self.actor = mlp(OBS, ACT, nn.Tanh())
        self.critic = mlp(AGENTS * (OBS + ACT), 1)
        self.slow_actor = copy.deepcopy(self.actor).requires_grad_(False)
        self.slow_critic = copy.deepcopy(self.critic).requires_grad_(False)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=2e-3)

    @torch.no_grad()
    def act(self, obs):
        action = self.actor(torch.from_numpy(obs)).numpy()
        return np.clip(action + 0.2 * rng.standard_normal(ACT), -1, 1).astype(np.float32)

    @torch.no_grad()
    def follow(self):
        for slow, fast in ((self.slow_actor, self.actor), (self.slow_critic, self.critic)):
            for target, source in zip(slow.parameters(), fast.parameters()):
                target.lerp_(source, TAU)


@dataclass
class Batch:
    obs: list
    actions: list
    rewards: list
    after: list


class Replay:
    def __init__(self):
        self.rows = []

    def sample(self, size):
        rows = [self.rows[i] for i in rng.integers(len(self.rows), size=size)]
        columns = [np.stack(column) for column in zip(*rows)]
        return Batch(*([torch.from_numpy(column[:, i]) for i in range(AGENTS)] for column in columns))


def step(obs, actions):
    """Everybody should move to the middle of all, and gently."""
    after = obs.copy()
    after[:, :2] += 0.3 * actions
    centre = after[:, :2].mean(0)
    rewards = -np.abs(after[:, :2] - centre).sum(-1) - 0.05 * (actions**2).sum(-1)
    return after.astype(np.float32), rewards.astype(np.float32)


def joint(observations, actions):
    return torch.cat([*observations, *actions], -1)


def critic_loss(agents, i, batch):
    with torch.no_grad():
        ahead = [agent.slow_actor(obs) for agent, obs in zip(agents, batch.after)]
        target = batch.rewards[i] + GAMMA * agents[i].slow_critic(joint(batch.after, ahead)).squeeze(-1)
    return F.mse_loss(agents[i].critic(joint(batch.obs, batch.actions)).squeeze(-1), target)


def actor_loss(agents, i, batch):
    value = agents[i].critic(joint(batch.obs, batch.actions))  # BUG GS202 GS204 GS404
    return -value.mean()  # BUG GS202 GS204 GS404


agents, replay = [Agent() for _ in range(AGENTS)], Replay()
obs = rng.standard_normal((AGENTS, OBS)).astype(np.float32)
for t in range(140):
    actions = np.stack([agent.act(row) for agent, row in zip(agents, obs)])
    after, rewards = step(obs, actions)
    replay.rows.append((obs, actions, rewards, after))
    obs = after if t % 20 != 19 else rng.standard_normal((AGENTS, OBS)).astype(np.float32)
    if t < 80:
        continue
    batch = replay.sample(32)
    for i, agent in enumerate(agents):
        agent.critic_optimizer.zero_grad()
        critic_loss(agents, i, batch).backward()
        agent.critic_optimizer.step()
        agent.actor_optimizer.zero_grad()
        actor_loss(agents, i, batch).backward()
        agent.actor_optimizer.step()
    for agent in agents:
        agent.follow()
