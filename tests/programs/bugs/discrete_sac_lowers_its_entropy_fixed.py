"""Discrete SAC."""

import copy
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


def mlp(o):
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, o))


pi, q1, q2 = mlp(2), mlp(2), mlp(2)
t1, t2 = copy.deepcopy(q1), copy.deepcopy(q2)
po, qo = torch.optim.Adam(pi.parameters(), 3e-4), torch.optim.Adam([*q1.parameters(), *q2.parameters()], 3e-4)
alpha = 0.2
buf, s = [], env.reset(seed=0)[0]
for step in range(45):
    with torch.no_grad():
        a = Categorical(logits=pi(torch.tensor(s))).sample().item()
    s2, r, te, tr, _ = env.step(a)
    buf.append((s, a, r, s2, float(te)))
    s = env.reset()[0] if te or tr else s2
    if len(buf) < 32:
        continue
    S, A, R, S2, D = (torch.tensor(np.array(x)) for x in zip(*random.sample(buf, 32)))
    R, D = R.float(), D.float()
    with torch.no_grad():
        lp2 = pi(S2).log_softmax(-1)
        v2 = (lp2.exp() * (torch.min(t1(S2), t2(S2)) - alpha * lp2)).sum(-1)
        y = R + 0.99 * (1 - D) * v2
    ql = sum(F.mse_loss(q(S).gather(1, A[:, None]).squeeze(1), y) for q in (q1, q2))
    qo.zero_grad()
    ql.backward()
    qo.step()
    lp = pi(S).log_softmax(-1)
    with torch.no_grad():
        q = torch.min(q1(S), q2(S))
    pl = (lp.exp() * (alpha * lp - q)).sum(-1).mean()
    po.zero_grad()
    pl.backward()
    po.step()
    with torch.no_grad():
        for n, t in ((q1, t1), (q2, t2)):
            for p, tp in zip(n.parameters(), t.parameters()):
                tp.lerp_(p, 0.01)
