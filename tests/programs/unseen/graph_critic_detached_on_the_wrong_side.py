"""DDPG for a platoon of cars over a graph network: the detach that belongs to the target stands at the critic's
own prediction, so the loss runs into the target networks and the critic is never moved. After
Jacklinkk/Graph_CAVs#9.

Round 36
Class: the line
"""

import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

N_CARS, N_FEATURES = 4, 3


class Platoon:
    """Cars in one lane; each wants to keep its gap at one while the first one drives as it likes."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.gaps, self.speeds = self.rng.uniform(0.6, 1.6, N_CARS), self.rng.uniform(-0.2, 0.2, N_CARS)
        self.leader, self.t = 0.0, 0
        return self._observe()

    def _observe(self):
        features = np.stack([self.gaps, self.speeds, np.full(N_CARS, self.leader)], axis=1)
        adjacency = (np.abs(np.subtract.outer(np.arange(N_CARS), np.arange(N_CARS))) <= 1).astype(np.float32)
        return features.astype(np.float32), adjacency / adjacency.sum(axis=1, keepdims=True)

    def step(self, action):
        self.t += 1
        self.leader = 0.9 * self.leader + self.rng.normal(0, 0.05)
        ahead = np.concatenate([[self.leader], self.speeds[:-1]])
        self.speeds = np.clip(self.speeds + 0.2 * action, -1, 1)
        self.gaps = self.gaps + 0.3 * (ahead - self.speeds)
        crash = bool(self.gaps.min() < 0.1 or self.gaps.max() > 4.0)
        reward = -5.0 if crash else 1.0 - float(np.abs(self.gaps - 1.0).mean())
        return self._observe(), reward, crash, self.t >= 50


class GraphConv(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.linear = nn.Linear(n_in, n_out)

    def forward(self, x, adjacency):
        return F.relu(self.linear(adjacency @ x))


class Graph_Actor_Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.gnn = nn.Linear(N_FEATURES, 32), GraphConv(32, 32)
        self.pi = nn.Linear(64, 1)

    def forward(self, x, adjacency):
        h = F.relu(self.encoder(x))
        return torch.tanh(self.pi(torch.cat([h, self.gnn(h, adjacency)], dim=-1))).squeeze(-1)


class Graph_Critic_Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.gnn = nn.Linear(N_FEATURES + 1, 32), GraphConv(32, 32)
        self.value = nn.Linear(64, 1)

    def forward(self, x, adjacency, action):
        h = F.relu(self.encoder(torch.cat([x, action.unsqueeze(-1)], dim=-1)))
        return self.value(torch.cat([h, self.gnn(h, adjacency)], dim=-1)).mean(dim=-2).squeeze(-1)


class DDPG:
    def __init__(self, gamma=0.95, tau=0.01, batch_size=32, warmup=64):
        self.actor, self.critic = Graph_Actor_Model(), Graph_Critic_Model()
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=3e-3)
        self.buffer = deque(maxlen=5000)
        self.gamma, self.tau, self.batch_size, self.warmup = gamma, tau, batch_size, warmup

    def choose_action(self, observation):
        with torch.no_grad():
            action = self.actor(*(torch.from_numpy(o) for o in observation)).numpy()
        return np.clip(action + np.random.normal(0, 0.2, N_CARS), -1, 1).astype(np.float32)

    def store_transition(self, *transition):
        self.buffer.append(transition)

    def sample(self):
        obs, action, reward, next_obs, done = zip(*random.sample(self.buffer, self.batch_size))
        x, adjacency = (torch.from_numpy(np.stack(o)) for o in zip(*obs))
        next_x, next_adjacency = (torch.from_numpy(np.stack(o)) for o in zip(*next_obs))
        rest = [torch.tensor(np.array(c), dtype=torch.float32) for c in (action, reward, done)]
        return x, adjacency, next_x, next_adjacency, *rest

    def learn_one_step(self):
        x, adjacency, next_x, next_adjacency, action, reward, done = self.sample()

        critic_value = self.critic(x, adjacency, action).detach()  # BUG GS202 GS201
        next_action = self.actor_target(next_x, next_adjacency)
        next_value = self.critic_target(next_x, next_adjacency, next_action)
        target = reward + self.gamma * (1.0 - done) * next_value  # BUG GS301 GS302
        critic_loss = F.smooth_l1_loss(critic_value, target)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        actor_loss = -self.critic(x, adjacency, self.actor(x, adjacency)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        self.synchronize_target()
        return critic_loss.item(), actor_loss.item()

    @torch.no_grad()
    def synchronize_target(self):
        for net, target in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
            for p, p_target in zip(net.parameters(), target.parameters()):
                p_target.mul_(1 - self.tau).add_(p, alpha=self.tau)


def main(seed=3610):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    env, agent = Platoon(seed), DDPG()
    obs = env.reset()
    for _ in range(200):
        action = agent.choose_action(obs)
        next_obs, reward, crash, cut = env.step(action)
        agent.store_transition(obs, action, reward, next_obs, crash)
        obs = env.reset() if crash or cut else next_obs
        if len(agent.buffer) >= agent.warmup:
            losses = agent.learn_one_step()
    print("critic {:.4f}, actor {:.4f}".format(*losses))


main()
