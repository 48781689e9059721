"""GAE in NumPy."""

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
T, g, lam = 48, 0.99, 0.95
pi, vf = (
    nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2)),
    nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1)),
)
opt = torch.optim.Adam([*pi.parameters(), *vf.parameters()], 1e-3)
s = env.reset(seed=0)[0]
for it in range(5):
    S, A, L, R, D, V = [], [], [], [], [], []
    for _ in range(T):
        with torch.no_grad():
            d = Categorical(logits=pi(torch.tensor(s)))
            a = d.sample()
            v = vf(torch.tensor(s))
        S.append(s)
        A.append(a.item())
        L.append(d.log_prob(a).item())
        V.append(v.item())
        s, r, te, tr, _ = env.step(a.item())
        R.append(r)
        D.append(te or tr)
        if te or tr:
            s = env.reset()[0]
    adv = np.zeros(T, dtype=np.float32)
    last = 0.0
    for i in reversed(range(T)):
        m = 1.0 - D[i]
        delta = R[i] + g * (V[i + 1] if i + 1 < T else 0.0) * m - V[i]
        last = delta + g * lam * m * last
        adv[i] = last
    ret = adv + np.array(V, dtype=np.float32)
    S, A, L, adv, ret = (
        torch.tensor(np.array(S)),
        torch.tensor(A),
        torch.tensor(L),
        torch.tensor(adv),
        torch.tensor(ret),
    )
    for _ in range(2):
        d = Categorical(logits=pi(S))
        ratio = (d.log_prob(A) - L).exp()
        loss = (
            -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
            + 0.5 * (vf(S).squeeze(-1) - ret).pow(2).mean()
            - 0.01 * d.entropy().mean()
        )
        opt.zero_grad()
        loss.backward()
        opt.step()
