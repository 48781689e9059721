"""PPO draws its observations in a new order, and takes the returns as they lie."""

import random

import numpy as np
import torch
from torch import nn

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)


class Rover:
    def reset(self):
        self.p = np.random.randn(4).astype(np.float32)
        return self.p.copy(), {}

    def step(self, a):
        self.p = (0.95 * self.p + 0.2 * (a - 1) + 0.2 * np.random.randn(4)).astype(np.float32)
        return self.p.copy(), float(-np.abs(self.p).sum()), bool(abs(self.p).max() > 3), False, {}


def mlp(o):
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, o))


env, pi, v = Rover(), mlp(3), mlp(1)
opt = torch.optim.Adam([*pi.parameters(), *v.parameters()], 1e-3)
obs, _ = env.reset()
for it in range(12):
    S, A, L, R, D, V = [], [], [], [], [], []
    for _ in range(128):
        x = torch.from_numpy(obs)
        with torch.no_grad():
            d = torch.distributions.Categorical(logits=pi(x))
            a = d.sample()
            V.append(v(x).squeeze())
        S.append(x)
        A.append(a)
        L.append(d.log_prob(a))
        obs, r, end, _, _ = env.step(a.item())
        R.append(r)
        D.append(end)
        if end:
            obs, _ = env.reset()
    S, A, L, V = map(torch.stack, (S, A, L, V))
    adv, g = torch.zeros(128), 0.0
    nv = v(torch.from_numpy(obs)).squeeze().detach()
    for t in reversed(range(128)):
        live = 1.0 - D[t]
        g = R[t] + 0.95 * nv * live - V[t] + 0.95 * 0.9 * live * g
        adv[t], nv = g, V[t]
    ret = adv + V
    for _ in range(2):
        order = torch.randperm(128)
        for k in range(0, 128, 32):
            i = order[k : k + 32]
            ratio = (torch.distributions.Categorical(logits=pi(S[i])).log_prob(A[i]) - L[i]).exp()
            target = ret[i]
            loss = (
                -torch.min(ratio * adv[i], ratio.clamp(0.8, 1.2) * adv[i]).mean()
                + (v(S[i]).squeeze(-1) - target).pow(2).mean()
            )
            opt.zero_grad()
            loss.backward()
            opt.step()
