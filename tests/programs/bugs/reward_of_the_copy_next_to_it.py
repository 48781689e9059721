"""Three copies side by side: each row of the replay memory gets the reward of its neighbour."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
N = 3
envs = gym.vector.SyncVectorEnv(
    [lambda: gym.make("Pendulum-v1")] * N, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP
)
actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
q1 = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
q1t = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
q1t.load_state_dict(q1.state_dict())
opt_q, opt_pi = torch.optim.Adam(q1.parameters(), 1e-3), torch.optim.Adam(actor.parameters(), 1e-3)


def act(s):
    mu, log_std = actor(s).chunk(2, -1)
    dist = Normal(mu, log_std.clamp(-4, 1).exp())
    u = dist.rsample()
    a = torch.tanh(u)
    return a, (dist.log_prob(u) - torch.log(1 - a**2 + 1e-6)).sum(-1)


class Buffer:
    def __init__(self):
        self.rows = []

    def add(self, **row):
        self.rows.append(row)

    def sample(self, n):
        picks = np.random.default_rng(len(self.rows)).integers(len(self.rows), size=n)
        return {
            k: torch.as_tensor(np.stack([self.rows[i][k] for i in picks]), dtype=torch.float32)
            for k in self.rows[0]
        }


buffer = Buffer()
obs, _ = envs.reset(seed=0)
for t in range(220):
    with torch.no_grad():
        a = act(torch.as_tensor(obs))[0].numpy()
    nxt, rew, term, trunc, info = envs.step(2 * a)
    for i in range(N):
        buffer.add(s=obs[i], a=a[i], r=rew[i - 1], s2=nxt[i], d=term[i])  # BUG GS806
    obs = nxt
    if t < 30:
        continue
    b = buffer.sample(48)
    with torch.no_grad():
        a2, lp2 = act(b["s2"])
        y = b["r"] + 0.97 * (1 - b["d"]) * (
            q1t(torch.cat([b["s2"], a2], -1)).squeeze(-1) - 0.1 * lp2
        )  # BUG GS806
    lq = (q1(torch.cat([b["s"], b["a"]], -1)).squeeze(-1) - y).pow(2).mean()
    opt_q.zero_grad()
    lq.backward()
    opt_q.step()
    an, lp = act(b["s"])
    lpi = (0.1 * lp - q1(torch.cat([b["s"], an], -1)).squeeze(-1)).mean()
    opt_pi.zero_grad()
    lpi.backward()
    opt_pi.step()
    with torch.no_grad():
        for p, pt in zip(q1.parameters(), q1t.parameters()):
            pt.copy_(0.99 * pt + 0.01 * p)
