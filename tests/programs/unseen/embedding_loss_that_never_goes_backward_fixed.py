"""An agent that never gives up: its episodic novelty is measured in the space of an embedding, which learns by
telling the action between two states. The loss of the embedding is computed, reported and never sent backward.
Repaired here.

Round 18
Class: the line
"""

import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

np.random.seed(1822)
torch.manual_seed(1822)


class Ledge:
    """A strip of twelve cells in the dark; a second number only flickers."""

    def reset(self):
        self.cell, self.t = 0, 0
        return self.observe()

    def observe(self):
        return np.array([self.cell / 12, np.random.rand()], dtype=np.float32)

    def step(self, action):
        self.cell = int(np.clip(self.cell + (-1, 0, 1)[action], 0, 11))
        self.t += 1
        return self.observe(), float(self.cell == 11), self.t == 24


class EmbeddingNet(nn.Module):
    def __init__(self, inputs, outputs, actions):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs))
        self.inverse = nn.Sequential(nn.Linear(2 * outputs, 32), nn.ReLU(), nn.Linear(32, actions))

    def predict(self, obs, next_obs):
        return self.inverse(torch.cat([self.embed(obs), self.embed(next_obs)], -1))


class EpisodicNovelty:
    def __init__(self, n_neighbours=4, epsilon=1e-3, lr=1e-3):
        self.model = EmbeddingNet(2, 8, 3)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.n_neighbours, self.epsilon = n_neighbours, epsilon
        self.memory = []

    @torch.no_grad()
    def bonus(self, obs):
        here = self.model.embed(torch.from_numpy(obs))
        distances = sorted(float((here - past).pow(2).sum()) for past in self.memory)[: self.n_neighbours]
        self.memory.append(here)
        return 1.0 / np.sqrt(sum(self.epsilon / (d + self.epsilon) for d in distances) + 1.0)

    def update(self, obs, actions, next_obs):
        self.opt.zero_grad()
        loss = F.cross_entropy(self.model.predict(obs, next_obs), actions)
        loss.backward()
        self.opt.step()
        return loss.item()


class Learner:
    def __init__(self, beta=0.3, gamma=0.95):
        self.beta, self.gamma = beta, gamma
        self.q = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 3))
        self.q_target = copy.deepcopy(self.q)
        self.opt = torch.optim.Adam(self.q.parameters(), lr=2e-3)
        self.novelty, self.replay, self.updates = EpisodicNovelty(), [], 0

    def act(self, obs, epsilon=0.25):
        if np.random.rand() < epsilon:
            return int(np.random.randint(3))
        with torch.no_grad():
            return int(self.q(torch.from_numpy(obs)).argmax())

    def train(self):
        picked = [self.replay[i] for i in np.random.randint(len(self.replay), size=32)]
        obs, actions, rewards, next_obs = (torch.tensor(np.array(x)) for x in zip(*picked))
        embedding_loss = self.novelty.update(obs, actions, next_obs)
        with torch.no_grad():
            target = rewards.float() + self.gamma * self.q_target(next_obs).amax(1)
        loss = F.mse_loss(self.q(obs).gather(1, actions[:, None]).squeeze(1), target)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.updates += 1
        if self.updates % 25 == 0:
            self.q_target.load_state_dict(self.q.state_dict())
        return loss.item(), embedding_loss

    def run(self, env, episodes):
        for episode in range(episodes):
            obs, done = env.reset(), False
            self.novelty.memory.clear()
            while not done:
                action = self.act(obs)
                next_obs, reward, done = env.step(action)
                self.replay.append((obs, action, reward + self.beta * self.novelty.bonus(next_obs), next_obs))
                obs = next_obs
                if len(self.replay) >= 64:
                    losses = self.train()
        return losses


print("q loss, embedding loss:", Learner().run(Ledge(), episodes=8))
