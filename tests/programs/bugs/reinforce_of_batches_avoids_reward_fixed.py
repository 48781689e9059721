"""REINFORCE over batches of episodes."""

import random

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical, Normal

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
env = gym.make("CartPole-v1")


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2), nn.LogSoftmax(-1))

    def forward(self, x):
        return self.f(x)


agent = Agent()
opt = torch.optim.Adam(agent.parameters(), 1e-2)
for it in range(5):
    S, A, W = [], [], []
    while len(S) < 100:
        ep, s, done = [], env.reset(seed=it)[0], False
        while not done:
            with torch.no_grad():
                a = torch.multinomial(agent(torch.tensor(s)).exp(), 1).item()
            S.append(s)
            A.append(a)
            s, r, te, tr, _ = env.step(a)
            ep.append(r)
            done = te or tr
        G = 0.0
        rets = []
        for r in reversed(ep):
            G = r + 0.98 * G
            rets.append(G)
        W += rets[::-1]
    W = np.array(W, dtype=np.float32)
    W = (W - W.mean()) / (W.std() + 1e-8)
    lp = agent(torch.tensor(np.array(S)))[torch.arange(len(A)), torch.tensor(A)]
    loss = -torch.mean(lp * torch.tensor(W))
    opt.zero_grad()
    loss.backward()
    opt.step()
