"""A rollout writes the reward that it got last before it takes the step: every advantage holds what had been paid."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
N, T = 4, 32
envs = gym.vector.SyncVectorEnv([lambda: gym.make("Pendulum-v1") for _ in range(N)])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
        self.v = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.zeros(1))


net = Net()
opt = torch.optim.Adam(net.parameters(), 1e-3)
obs = torch.zeros(T, N, 3)
act = torch.zeros(T, N, 1)
logp = torch.zeros(T, N)
rew = torch.zeros(T, N)
val = torch.zeros(T, N)
o = torch.tensor(envs.reset(seed=1)[0])
r = np.zeros(N)
for it in range(10):
    for t in range(T):
        obs[t] = o
        rew[t] = torch.tensor(r)  # BUG GS806
        with torch.no_grad():
            d = Normal(net.pi(o), net.log_std.exp())
            a = d.sample()
            act[t], logp[t], val[t] = a, d.log_prob(a).sum(-1), net.v(o).squeeze(-1)
        nxt, r, _, _, _ = envs.step(a.numpy())
        o = torch.tensor(nxt)
    with torch.no_grad():
        last_v, gae, adv = net.v(o).squeeze(-1), torch.zeros(N), torch.zeros(T, N)
        for t in range(T - 1, -1, -1):
            nv = last_v if t == T - 1 else val[t + 1]
            delta = rew[t] + 0.95 * nv - val[t]  # BUG GS806
            gae = delta + 0.95 * 0.9 * gae  # BUG GS806
            adv[t] = gae
        ret = adv + val  # BUG GS806
    fo, fa, fl, fadv, fr = obs.view(-1, 3), act.view(-1, 1), logp.view(-1), adv.view(-1), ret.view(-1)
    for _ in range(2):
        for mb in torch.randperm(N * T).split(32):
            d = Normal(net.pi(fo[mb]), net.log_std.exp())
            ratio = (d.log_prob(fa[mb]).sum(-1) - fl[mb]).exp()
            A = (fadv[mb] - fadv[mb].mean()) / (fadv[mb].std() + 1e-8)
            loss = (
                -torch.min(ratio * A, ratio.clamp(0.8, 1.2) * A).mean()
                + 0.5 * (net.v(fo[mb]).squeeze(-1) - fr[mb]).pow(2).mean()
            )
            opt.zero_grad()
            loss.backward()
            opt.step()
