"""REINFORCE with a learned baseline, and without the minus: what was rewarded becomes less likely."""

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
pi = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
vf = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
po, vo = torch.optim.Adam(pi.parameters(), 1e-3), torch.optim.Adam(vf.parameters(), 1e-2)
for ep in range(8):
    s = env.reset(seed=ep)[0]
    S, L, R = [], [], []
    done = False
    while not done:
        d = Categorical(logits=pi(torch.tensor(s)))
        a = d.sample()
        S.append(torch.tensor(s))
        L.append(d.log_prob(a))
        s, r, te, tr, _ = env.step(a.item())
        R.append(r)
        done = te or tr
    G, ret = 0, []
    for r in R[::-1]:
        G = r + 0.99 * G
        ret.insert(0, G)
    ret, S = torch.tensor(ret), torch.stack(S)
    v = vf(S).squeeze(-1)
    adv = ret - v.detach()
    policy_loss = (torch.stack(L) * adv).mean()  # BUG GS801
    po.zero_grad()
    policy_loss.backward()
    po.step()
    value_loss = F.mse_loss(v, ret)
    vo.zero_grad()
    value_loss.backward()
    vo.step()
