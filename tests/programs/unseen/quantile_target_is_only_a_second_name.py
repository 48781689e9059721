"""An implicit quantile network balances the pole of CartPole with a target network that is renewed every
forty updates. The target is made with a shallow copy and has the very same weights as the online network,
so the bootstrap moves with every step.

Round 32
Class: hidden writes
"""

import copy
import math
import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class IQN(nn.Module):
    def __init__(self, obs_dim, n_actions, hidden=64, n_cos=16):
        super().__init__()
        self.register_buffer("pis", math.pi * torch.arange(1, n_cos + 1).float())
        self.body = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh())
        self.phi = nn.Linear(n_cos, hidden)
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, n_actions))

    def forward(self, obs, n_tau):
        tau = torch.rand(len(obs), n_tau)
        embedding = torch.sigmoid(self.phi(torch.cos(tau.unsqueeze(-1) * self.pis)))
        return self.head(self.body(obs).unsqueeze(1) * embedding), tau


class Agent:
    def __init__(self, obs_dim, n_actions, lr=1e-3, gamma=0.98, n_tau=8, sync_every=40):
        self.net = IQN(obs_dim, n_actions)
        self.target = copy.copy(self.net)  # BUG GS306
        self.target.eval()
        self.n_actions, self.gamma, self.n_tau, self.sync_every = n_actions, gamma, n_tau, sync_every
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.memory = deque(maxlen=5000)
        self.updates = 0

    @torch.no_grad()
    def act(self, obs, epsilon):
        if random.random() < epsilon:
            return random.randrange(self.n_actions)
        quantiles, _ = self.net(torch.from_numpy(obs).unsqueeze(0), 16)
        return int(quantiles.mean(1).argmax(-1))

    def learn(self, batch_size=32):
        obs, act, rew, nxt, term = map(np.array, zip(*random.sample(self.memory, batch_size)))
        obs, nxt = torch.from_numpy(obs), torch.from_numpy(nxt)
        act, rew = torch.from_numpy(act), torch.from_numpy(rew).float()
        term = torch.from_numpy(term).float()

        with torch.no_grad():
            next_q, _ = self.target(nxt, self.n_tau)
            best = next_q.mean(1).argmax(-1)
            next_z = next_q[torch.arange(batch_size), :, best]
            target = rew.unsqueeze(1) + self.gamma * (1 - term.unsqueeze(1)) * next_z

        quantiles, tau = self.net(obs, self.n_tau)
        z = quantiles[torch.arange(batch_size), :, act]
        td = target.unsqueeze(1) - z.unsqueeze(2)
        huber = F.huber_loss(td, torch.zeros_like(td), reduction="none")
        weight = (tau.unsqueeze(2) - (td.detach() < 0).float()).abs()
        loss = (weight * huber).sum(1).mean()

        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % self.sync_every == 0:
            self.target.load_state_dict(self.net.state_dict())


def main(steps=700, warmup=100):
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    env = gym.make("CartPole-v1")
    agent = Agent(env.observation_space.shape[0], env.action_space.n)
    obs, _ = env.reset(seed=0)
    episode, scores = 0.0, []
    for step in range(steps):
        action = agent.act(obs, epsilon=max(0.1, 1 - step / 400))
        nxt, reward, terminated, truncated, _ = env.step(action)
        agent.memory.append((obs, action, reward, nxt, terminated))
        episode += reward
        obs = nxt
        if terminated or truncated:
            scores.append(episode)
            obs, episode = env.reset()[0], 0.0
        if step >= warmup and step % 3 == 0:
            agent.learn()
    env.close()
    print(f"{len(scores)} episodes, mean of the last ten {np.mean(scores[-10:]):.1f}")


if __name__ == "__main__":
    main()
