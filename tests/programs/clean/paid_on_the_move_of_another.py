"""Two players move in turn and are paid on the other's move."""

import random

import numpy as np
import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
rng = np.random.default_rng(0)


class Duel:
    """Whoever has moved is paid after the answer."""

    def reset(self):
        self.x, self.n = rng.normal(size=4), 0
        return self.x.astype(np.float32), {}

    def step(self, a):
        self.x = self.x + 0.1 * rng.normal(size=4) + 0.1 * a
        self.n += 1
        return (
            self.x.astype(np.float32),
            float(self.x[0]) if self.n % 2 == 0 else 0.0,
            self.n >= 30,
            False,
            {},
        )


env = Duel()
q, slow = nn.Linear(4, 2), nn.Linear(4, 2)
slow.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), 1e-3)
rows = []
for game in range(25):
    s, _ = env.reset()
    over = False
    while not over:
        a = random.randrange(2)
        s1, _, over, _, _ = env.step(a)
        s2, r, over, _, _ = env.step(random.randrange(2))
        rows.append((s, a, r, s2, over))
        s = s2
    if len(rows) > 40:
        for _ in range(4):
            S, A, R, S2, D = (torch.tensor(np.array(c)) for c in zip(*random.sample(rows, 32)))
            y = R.float() + 0.9 * (1 - D.float()) * slow(S2).detach().max(1).values
            loss = (q(S).gather(1, A[:, None]).squeeze(1) - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
