"""The action and the reward before as inputs (meta-RL); a model of the world that is asked what it got on the way here;
an inverse model; behaviour cloning of what was done."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)


class Bandit:
    def reset(self):
        self.p, self.t = rng.normal(size=3), 0
        return rng.normal(size=2).astype(np.float32), {}

    def step(self, a):
        self.t += 1
        return (
            rng.normal(size=2).astype(np.float32),
            float(self.p[a] + 0.1 * rng.normal()),
            False,
            self.t >= 25,
            {},
        )


env = Bandit()
policy, value = nn.Linear(2 + 3 + 1, 3), nn.Linear(2 + 3 + 1, 1)
inverse, guess, model, reward_model = nn.Linear(4, 3), nn.Linear(2, 3), nn.Linear(5, 2), nn.Linear(2, 1)
opt = torch.optim.Adam(
    [p for n in (policy, value, inverse, guess, model, reward_model) for p in n.parameters()], 1e-3
)
for _ in range(10):
    seen, PA, PR, A, R, N_ = [], [], [], [], [], []
    obs, _ = env.reset()
    before, paid, over = np.zeros(3, np.float32), np.zeros(1, np.float32), False
    while not over:
        x = torch.from_numpy(np.concatenate([obs, before, paid]))
        with torch.no_grad():
            a = int(torch.distributions.Categorical(logits=policy(x)).sample())
        seen.append(obs)
        PA.append(before)
        PR.append(paid)
        A.append(a)
        obs, r, _, over, _ = env.step(a)
        R.append(r)
        N_.append(obs)
        before, paid = np.eye(3, dtype=np.float32)[a], np.array([r], np.float32)
    o, pa, pr, n = (torch.from_numpy(np.array(c)) for c in (seen, PA, PR, N_))
    a, r = torch.tensor(A), torch.tensor(R)
    g, ret = 0.0, torch.zeros(25)
    for t in reversed(range(25)):
        g = r[t] + 0.9 * g
        ret[t] = g
    x = torch.cat([o, pa, pr], -1)
    v = value(x).squeeze(-1)
    logp = torch.distributions.Categorical(logits=policy(x)).log_prob(a)
    loss = -(logp * (ret - v.detach())).mean() + (v - ret).pow(2).mean()
    loss = loss + nn.functional.cross_entropy(
        inverse(torch.cat([o, n], -1)), a
    )  # what leads from here to there
    loss = loss + nn.functional.cross_entropy(guess(o[1:]), a[:-1])  # what was done before this was seen
    loss = loss + (model(torch.cat([o, nn.functional.one_hot(a, 3).float()], -1)) - n).pow(2).mean()
    loss = loss + (reward_model(n).squeeze(-1) - r).pow(2).mean()  # what was paid on the way here
    opt.zero_grad()
    loss.backward()
    opt.step()
