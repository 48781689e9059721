"""Observations are flattened copy by copy, their returns step by step."""

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
N, T = 5, 24
envs = gym.vector.SyncVectorEnv([lambda: gym.make("MountainCarContinuous-v0") for _ in range(N)])
pi, v = (
    nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1)),
    nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1)),
)
opt = torch.optim.Adam([*pi.parameters(), *v.parameters()], 1e-3)


def swap_and_flatten(x):
    return x.transpose(0, 1).reshape(N * T, *x.shape[2:])


o = torch.as_tensor(envs.reset(seed=2)[0])
for it in range(14):
    cols = {k: [] for k in ("obs", "act", "logp", "rew")}
    for t in range(T):
        with torch.no_grad():
            d = Normal(pi(o), 0.7)
            a = d.sample()
        cols["obs"].append(o)
        cols["act"].append(a)
        cols["logp"].append(d.log_prob(a).squeeze(-1))
        o2, r, *_ = envs.step(a.numpy())
        cols["rew"].append(torch.as_tensor(r, dtype=torch.float32))
        o = torch.as_tensor(o2)
    cols = {k: torch.stack(x) for k, x in cols.items()}
    with torch.no_grad():
        run, ret = v(o).squeeze(-1), torch.zeros(T, N)
        for t in reversed(range(T)):
            run = cols["rew"][t] + 0.98 * run
            ret[t] = run
    obs, act, logp = (swap_and_flatten(cols[k]) for k in ("obs", "act", "logp"))
    returns = swap_and_flatten(ret)
    for _ in range(2):
        value = v(obs).squeeze(-1)
        adv = returns - value.detach()
        ratio = (Normal(pi(obs), 0.7).log_prob(act).squeeze(-1) - logp).exp()
        loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean() + (value - returns).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
