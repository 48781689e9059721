"""A deterministic actor-critic is handed its models in a dictionary and puts each on its device twice, for the
learner and for the target. Moving a model gives back the same model: there are no targets, and the slow update
mixes every network with itself.
Repaired here.

Round 19
Class: the line
"""

import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn


class Config:
    gamma = 0.9
    tau = 0.02
    batch_size = 32
    warm_up = 80
    memory_capacity = 2000
    device = "cpu"


class Actor(nn.Module):
    def __init__(self, n_states, n_actions, hidden_dim=48):
        super().__init__()
        self.linear1 = nn.Linear(n_states, hidden_dim)
        self.linear2 = nn.Linear(hidden_dim, n_actions)

    def forward(self, x):
        return torch.tanh(self.linear2(torch.relu(self.linear1(x))))


class Critic(nn.Module):
    def __init__(self, n_states, n_actions, hidden_dim=48):
        super().__init__()
        self.linear1 = nn.Linear(n_states + n_actions, hidden_dim)
        self.linear2 = nn.Linear(hidden_dim, 1)

    def forward(self, state, action):
        return self.linear2(torch.relu(self.linear1(torch.cat([state, action], 1))))


class ReplayBuffer(deque):
    def sample(self, batch_size):
        columns = zip(*random.sample(self, batch_size))
        return [torch.tensor(np.array(column), dtype=torch.float32) for column in columns]


class DDPG:
    def __init__(self, models, memory, cfg):
        self.cfg, self.memory = cfg, memory
        self.critic = models["critic"].to(cfg.device)
        self.target_critic = copy.deepcopy(models["critic"]).to(cfg.device)
        self.actor = models["actor"].to(cfg.device)
        self.target_actor = copy.deepcopy(models["actor"]).to(cfg.device)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=3e-3)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)

    @torch.no_grad()
    def sample_action(self, state):
        return self.actor(torch.tensor(state).unsqueeze(0)).squeeze(0).numpy()

    def update(self):
        if len(self.memory) < self.cfg.warm_up:
            return
        state, action, reward, next_state, done = self.memory.sample(self.cfg.batch_size)
        policy_loss = -self.critic(state, self.actor(state)).mean()
        self.actor_optimizer.zero_grad()
        policy_loss.backward()
        self.actor_optimizer.step()

        with torch.no_grad():
            target_value = self.target_critic(next_state, self.target_actor(next_state))
            expected_value = reward.unsqueeze(1) + (1.0 - done.unsqueeze(1)) * self.cfg.gamma * target_value
        value_loss = nn.functional.mse_loss(self.critic(state, action), expected_value)
        self.critic_optimizer.zero_grad()
        value_loss.backward()
        self.critic_optimizer.step()
        self.soft_update(self.target_critic, self.critic)
        self.soft_update(self.target_actor, self.actor)

    def soft_update(self, target, net):
        for target_param, param in zip(target.parameters(), net.parameters()):
            mixed = target_param.data * (1.0 - self.cfg.tau) + param.data * self.cfg.tau
            target_param.data.copy_(mixed)


class Balance:
    """Hold a drifting needle at the mark; beyond three it gets stuck."""

    def reset(self):
        self.x, self.t = np.random.uniform(-1, 1), 0
        return self.observe()

    def observe(self):
        return np.array([self.x, self.x**2], dtype=np.float32)

    def step(self, action):
        self.x = 0.8 * self.x + 0.3 * float(action[0]) + 0.05 * np.random.randn()
        self.t += 1
        return self.observe(), -((self.x - 0.2) ** 2), abs(self.x) > 3, self.t >= 40


random.seed(1901)
np.random.seed(1901)
torch.manual_seed(1901)
env = Balance()
models = {"actor": Actor(2, 1), "critic": Critic(2, 1)}
agent = DDPG(models, ReplayBuffer(maxlen=Config.memory_capacity), Config())
for i_ep in range(8):
    state, over = env.reset(), False
    while not over:
        if i_ep < 2:
            action = np.random.uniform(-1, 1, size=1)
        else:
            action = np.clip(agent.sample_action(state) + 0.2 * np.random.randn(1), -1, 1)
        next_state, reward, done, truncated = env.step(action)
        agent.memory.append((state, action, reward, next_state, float(done)))
        agent.update()
        state, over = next_state, done or truncated
    print(f"episode {i_ep}: {env.t} steps, last reward {reward:.2f}")
