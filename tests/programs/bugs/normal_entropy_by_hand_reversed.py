"""A normal policy written by hand: its entropy is added to the loss instead of taken off."""

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
env = gym.make("Pendulum-v1")
mu_net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
log_std = nn.Parameter(torch.zeros(1))
vf = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam([*mu_net.parameters(), log_std, *vf.parameters()], 1e-3)
s = env.reset(seed=0)[0]
for it in range(8):
    S, A, R, S2 = [], [], [], []
    for t in range(32):
        with torch.no_grad():
            a = mu_net(torch.tensor(s)) + log_std.exp() * torch.randn(1)
        s2, r, te, tr, _ = env.step(a.numpy())
        S.append(s)
        A.append(a)
        R.append(float(r))
        S2.append(s2)
        s = env.reset()[0] if tr else s2
    S, A, R, S2 = torch.tensor(np.array(S)), torch.stack(A), torch.tensor(R), torch.tensor(np.array(S2))
    with torch.no_grad():
        y = R + 0.99 * vf(S2).squeeze(-1)
    v = vf(S).squeeze(-1)
    adv = (y - v).detach()
    logp = (-0.5 * ((A - mu_net(S)) / log_std.exp()) ** 2 - log_std - 0.9189385).sum(-1)
    entropy = (log_std + 0.5 * np.log(2 * np.pi * np.e)).sum()
    loss = -(logp * adv).mean() + 0.5 * (v - y).pow(2).mean() + 0.01 * entropy  # BUG GS802
    opt.zero_grad()
    loss.backward()
    opt.step()
