"""SAC keeps the flag that it got a step earlier: the value is cut off after the start instead of at the end."""

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
rng = np.random.default_rng(0)


class Drone:
    def reset(self):
        self.p = rng.normal(0, 0.3, 4).astype(np.float32)
        return self.p

    def step(self, u):
        self.p = (self.p + 0.3 * np.tanh(u).repeat(2) + rng.normal(0, 0.2, 4)).astype(np.float32)
        return self.p, float(-np.square(self.p).sum()), bool(np.abs(self.p).max() > 1.2), {}


class Q(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, s, a):
        return self.f(torch.cat([s, a], 1))


env, pi, q, q_slow = Drone(), nn.Linear(4, 4), Q(), Q()
q_slow.load_state_dict(q.state_dict())
q_opt, pi_opt = torch.optim.Adam(q.parameters(), 1e-3), torch.optim.Adam(pi.parameters(), 1e-3)


def sample(s):
    mean, log_std = pi(s).chunk(2, 1)
    d = Normal(mean, log_std.clamp(-3, 1).exp())
    u = d.rsample()
    a = u.tanh()
    return a, (d.log_prob(u) - torch.log(1 - a.square() + 1e-6)).sum(1, keepdim=True)


store = []
s, done = env.reset(), False
for t in range(500):
    with torch.no_grad():
        a = sample(torch.tensor(s)[None])[0][0].numpy()
    before = done
    s2, r, done, _ = env.step(a)
    store.append((s, a, r, s2, before))  # BUG GS805
    s = env.reset() if done else s2
    if t < 64:
        continue
    rows = [store[i] for i in rng.integers(len(store), size=64)]
    bs, ba, br, bs2, bd = (torch.tensor(np.array(c), dtype=torch.float32) for c in zip(*rows))
    br, bd = br[:, None], bd[:, None]
    with torch.no_grad():
        a2, lp2 = sample(bs2)
        backup = br + 0.9 * (1 - bd) * (q_slow(bs2, a2) - 0.1 * lp2)  # BUG GS805
    q_loss = ((q(bs, ba) - backup) ** 2).mean()
    q_opt.zero_grad()
    q_loss.backward()
    q_opt.step()
    a_new, lp = sample(bs)
    pi_loss = (0.1 * lp - q(bs, a_new)).mean()
    pi_opt.zero_grad()
    pi_loss.backward()
    pi_opt.step()
    with torch.no_grad():
        for p, ps in zip(q.parameters(), q_slow.parameters()):
            ps.mul_(0.99).add_(0.01 * p)
