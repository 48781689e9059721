"""DPO whose reference is the model that is trained: the margin is always zero, whatever is learned."""

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


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(10, 16)
        self.o = nn.Linear(16, 10)

    def logp(self, x):
        return self.o(self.e(x[:, :-1])).log_softmax(-1).gather(2, x[:, 1:, None]).squeeze(-1).sum(1)


class DPO:
    def __init__(self, model):
        self.model = model
        self.ref = model  # BUG GS808 GS209
        self.opt = torch.optim.Adam(model.parameters(), 1e-3)

    def step(self, good, bad):
        pg, pb = self.model.logp(good), self.model.logp(bad)
        with torch.no_grad():
            rg, rb = self.ref.logp(good), self.ref.logp(bad)  # BUG GS808
        loss = -F.logsigmoid(0.1 * ((pg - rg) - (pb - rb))).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


t = DPO(M())
for i in range(15):
    t.step(torch.randint(10, (4, 6)), torch.randint(10, (4, 6)))
