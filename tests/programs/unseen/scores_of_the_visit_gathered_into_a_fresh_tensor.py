"""Asynchronous actor-critic, its workers run in turn: a worker's memory of log-probabilities is made into a
new tensor before the loss, so the policy head of the shared network never moves while the value head does.
After Quantum-Cheese/DeepReinforcementLearning_Pytorch#1.

Round 37
Class: zero in part
"""

import random

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

GAMMA, T_MAX, SEED = 0.98, 16, 3702


class ActorCritic(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(state_dim, 48), nn.Tanh(), nn.Linear(48, action_dim))
        self.critic = nn.Sequential(nn.Linear(state_dim, 48), nn.Tanh(), nn.Linear(48, 1))

    def act(self, state):
        state = torch.from_numpy(state).float()
        dist = Categorical(logits=self.actor(state))
        action = dist.sample()
        return action.item(), dist.log_prob(action), self.critic(state).squeeze(-1)


class Worker:
    def __init__(self, name, global_net, optimizer):
        self.name = name
        self.env = gym.make("CartPole-v1")
        self.state, _ = self.env.reset(seed=SEED + name)
        self.global_net, self.optimizer = global_net, optimizer
        self.local_net = ActorCritic(4, 2)
        self.memory = []

    def sync_from_global(self):
        self.local_net.load_state_dict(self.global_net.state_dict())

    def collect(self):
        self.memory.clear()
        for _ in range(T_MAX):
            action, log_prob, value = self.local_net.act(self.state)
            next_state, reward, terminated, truncated, _ = self.env.step(action)
            self.memory.append((reward * 0.1, log_prob, value))
            self.state = next_state
            if terminated or truncated:
                self.state, _ = self.env.reset()
                break
        if terminated:
            return torch.zeros(())
        with torch.no_grad():
            return self.local_net.critic(torch.from_numpy(next_state).float()).squeeze(-1)

    def update(self):
        self.sync_from_global()
        running = self.collect()
        returns = []
        for reward, _, _ in reversed(self.memory):
            running = reward + GAMMA * running
            returns.insert(0, running)
        returns = torch.stack(returns)
        log_probs = torch.tensor([t[1] for t in self.memory], dtype=torch.float)  # BUG GS202 GS201
        values = torch.stack([t[2] for t in self.memory])

        advantages = returns - values.detach()
        actor_loss = -(log_probs * advantages).mean()
        critic_loss = F.mse_loss(values, returns)
        loss = actor_loss + 0.5 * critic_loss

        self.local_net.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.local_net.parameters(), 5.0)
        for shared, mine in zip(self.global_net.parameters(), self.local_net.parameters()):
            shared.grad = None if mine.grad is None else mine.grad.clone()
        self.optimizer.step()
        return loss.item()


random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
global_net = ActorCritic(4, 2)
optimizer = torch.optim.Adam(global_net.parameters(), lr=3e-3)
workers = [Worker(i, global_net, optimizer) for i in range(4)]
for episode in range(40):
    losses = [worker.update() for worker in workers]
print("loss", np.mean(losses))
