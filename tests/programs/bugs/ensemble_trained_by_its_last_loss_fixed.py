"""The sum of the ensemble's losses is sent backward."""

import copy

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
np.random.seed(0)
qs = nn.ModuleList(nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 1)) for _ in range(4))
ts = copy.deepcopy(qs)
pi = nn.Sequential(nn.Linear(3, 48), nn.ReLU(), nn.Linear(48, 1), nn.Tanh())
q_opt, pi_opt = torch.optim.Adam(qs.parameters(), 1e-3), torch.optim.Adam(pi.parameters(), 1e-3)
env, mem = gym.make("Pendulum-v1"), []
s, _ = env.reset(seed=0)
for t in range(200):
    with torch.no_grad():
        a = (pi(torch.tensor(s)).numpy() + 0.2 * np.random.randn(1)).clip(-1, 1).astype(np.float32)
    s2, r, term, trunc, _ = env.step(2 * a)
    mem.append((s, a, [r / 8], s2))
    s = env.reset()[0] if trunc else s2
    if t < 64:
        continue
    bs, ba, br, bs2 = (
        torch.tensor(np.array(c), dtype=torch.float32)
        for c in zip(*[mem[i] for i in np.random.randint(len(mem), size=32)])
    )
    with torch.no_grad():
        x2 = torch.cat([bs2, pi(bs2)], 1)
        y = br + 0.98 * torch.stack([q(x2) for q in ts]).min(0).values
    losses = []
    for q in qs:
        loss = (q(torch.cat([bs, ba], 1)) - y).pow(2).mean()
        losses.append(loss)
    q_opt.zero_grad()
    sum(losses).backward()
    q_opt.step()
    pl = -torch.stack([q(torch.cat([bs, pi(bs)], 1)) for q in qs]).mean()
    pi_opt.zero_grad()
    pl.backward()
    pi_opt.step()
    with torch.no_grad():
        for p, tp in zip(qs.parameters(), ts.parameters()):
            tp.lerp_(p, 0.01)
