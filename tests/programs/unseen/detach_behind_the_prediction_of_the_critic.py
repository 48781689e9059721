"""A platoon of cars is controlled by a graph network, trained with a deterministic policy gradient. In the critic's
loss it is the prediction that is detached and not the target: the loss falls on the slow networks, the critic itself
is never fitted, and the actor climbs a critic that knows nothing.

Round 21
Class: zero in part
"""

import copy
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

CARS = 4


class GraphConv(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.own, self.neighbours = nn.Linear(n_in, n_out), nn.Linear(n_in, n_out)

    def forward(self, x, adjacency):
        degree = adjacency.sum(-1, keepdim=True).clamp(min=1.0)
        return F.relu(self.own(x) + self.neighbours(adjacency @ x / degree))


class GraphActor(nn.Module):
    def __init__(self, n_features):
        super().__init__()
        self.conv, self.policy = GraphConv(n_features, 32), nn.Linear(32, 1)

    def forward(self, x, adjacency):
        return torch.tanh(self.policy(self.conv(x, adjacency)))


class GraphCritic(nn.Module):
    def __init__(self, n_features):
        super().__init__()
        self.conv, self.value = GraphConv(n_features + 1, 64), nn.Linear(64, 1)

    def forward(self, x, adjacency, action):
        return self.value(self.conv(torch.cat([x, action], -1), adjacency).mean(-2)).squeeze(-1)


class Platoon:
    """Every car keeps a distance of one to the car before it; a trip is over after twenty steps, and they know it."""

    def __init__(self, rng):
        self.rng = rng
        self.adjacency = np.eye(CARS, k=1) + np.eye(CARS, k=-1)

    def reset(self):
        self.gap, self.speed, self.clock = self.rng.uniform(0.2, 1.8, CARS), self.rng.normal(0, 0.1, CARS), 0
        return self.observe()

    def observe(self):
        return np.stack([self.gap - 1.0, self.speed, np.full(CARS, self.clock / 20)], -1).astype(np.float32)

    def step(self, action):
        self.speed = 0.9 * self.speed + 0.2 * action
        before = np.concatenate([[0.0], self.speed[:-1]])
        self.gap = self.gap + 0.3 * (before - self.speed)
        self.clock += 1
        reward = -float(np.mean((self.gap - 1.0) ** 2) + 0.05 * np.mean(action**2))
        return self.observe(), reward, self.clock == 20


class DDPGAgent:
    def __init__(self, n_features, adjacency, gamma=0.9, tau=0.02):
        self.adjacency = torch.as_tensor(adjacency, dtype=torch.float32)
        self.actor, self.critic = GraphActor(n_features), GraphCritic(n_features)
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=3e-3)
        self.gamma, self.tau, self.memory = gamma, tau, []

    def choose_action(self, obs, noise=0.3):
        with torch.no_grad():
            action = self.actor(torch.from_numpy(obs), self.adjacency).squeeze(-1).numpy()
        return np.clip(action + noise * np.random.randn(CARS), -1, 1).astype(np.float32)

    def learn_one_step(self, batch_size=32):
        columns = zip(*random.sample(self.memory, batch_size))
        obs, action, reward, next_obs, done = (
            torch.as_tensor(np.array(c, dtype=np.float32)) for c in columns
        )
        next_action = self.actor_target(next_obs, self.adjacency)
        next_value = self.critic_target(next_obs, self.adjacency, next_action)  # BUG GS302
        target = reward + self.gamma * (1 - done) * next_value  # BUG GS301 GS302
        value = self.critic(obs, self.adjacency, action.unsqueeze(-1)).detach()  # BUG GS202 GS201 GS404
        critic_loss = F.smooth_l1_loss(value, target)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()  # BUG GS404
        actor_loss = -self.critic(obs, self.adjacency, self.actor(obs, self.adjacency)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        self.synchronize_target()

    @torch.no_grad()
    def synchronize_target(self):
        for slow, fast in ((self.actor_target, self.actor), (self.critic_target, self.critic)):
            for p, q in zip(slow.parameters(), fast.parameters()):
                p.lerp_(q, self.tau)


random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
env = Platoon(np.random.default_rng(0))
agent = DDPGAgent(3, env.adjacency)
for episode in range(24):
    obs, done, score = env.reset(), False, 0.0
    while not done:
        action = agent.choose_action(obs)
        next_obs, reward, done = env.step(action)
        agent.memory.append((obs, action, reward, next_obs, done))
        obs, score = next_obs, score + reward
        if len(agent.memory) >= 64:
            agent.learn_one_step()
    if episode % 6 == 5:
        print(f"trip {episode + 1}: {score:.2f}")
