"""The target is computed in NumPy, with the flag of the end."""

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
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
frozen = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
frozen.load_state_dict(net.state_dict())
opt = torch.optim.Adam(net.parameters(), 1e-3)
buf, obs = [], env.reset(seed=0)[0]
for step in range(110):
    a = random.randrange(2)
    nxt, r, term, trunc, _ = env.step(a)
    buf.append((obs, a, r, nxt, term))
    obs = env.reset()[0] if term or trunc else nxt
    if len(buf) < 32:
        continue
    batch = random.sample(buf, 32)
    s = np.array([b[0] for b in batch])
    a = np.array([b[1] for b in batch])
    r = np.array([b[2] for b in batch], dtype=np.float32)
    s2 = np.array([b[3] for b in batch])
    d = np.array([b[4] for b in batch])
    nq = frozen(torch.from_numpy(s2)).detach().numpy()
    y = (r + 0.99 * (1 - d) * nq.max(axis=1)).astype(np.float32)
    q = net(torch.from_numpy(s)).gather(1, torch.from_numpy(a).view(-1, 1)).squeeze(1)
    loss = F.smooth_l1_loss(q, torch.from_numpy(y))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 25 == 0:
        frozen.load_state_dict(net.state_dict())
