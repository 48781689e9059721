"""Model-based planning with an ensemble of heads: the heads are kept in a plain Python list, the module does not know
them, and the optimizer steps the shared body alone.

Round 28
Class: weights
"""

import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(296)
rng = np.random.default_rng(296)


class Drone:
    """One dimension, thrust against gravity, a target height of zero."""

    def reset(self):
        self.s = rng.uniform(-1.0, 1.0, 2).astype(np.float32)
        return self.s.copy()

    def step(self, a):
        height, speed = self.s
        speed = 0.95 * speed + 0.2 * float(a) - 0.05
        self.s = np.array([height + 0.2 * speed, speed], dtype=np.float32)
        self.s += rng.normal(0.0, 0.01, 2).astype(np.float32)
        return self.s.copy(), -abs(self.s[0])


class EnsembleDynamics(nn.Module):
    def __init__(self, members=4, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.heads = [nn.Linear(width, 4) for _ in range(members)]  # BUG GS205
        self.max_logvar = nn.Parameter(torch.full((2,), -1.0))
        self.min_logvar = nn.Parameter(torch.full((2,), -8.0))

    def forward(self, states, actions):
        h = self.body(torch.cat([states, actions], dim=-1))
        out = torch.stack([head(h) for head in self.heads])
        mean, logvar = out.chunk(2, dim=-1)
        logvar = self.max_logvar - nn.functional.softplus(self.max_logvar - logvar)
        logvar = self.min_logvar + nn.functional.softplus(logvar - self.min_logvar)
        return states + mean, logvar


class Model:
    def __init__(self, lr=3e-3):
        self.net = EnsembleDynamics()
        self.optim = torch.optim.Adam(self.net.parameters(), lr=lr, weight_decay=1e-5)  # BUG GS205

    def fit(self, data, epochs=6, batch=32):
        s, a, s2 = (torch.as_tensor(np.array(x)) for x in zip(*data))
        for _ in range(epochs):
            for rows in torch.randperm(len(s)).split(batch):
                mean, logvar = self.net(s[rows], a[rows])
                nll = ((mean - s2[rows]).pow(2) * torch.exp(-logvar) + logvar).mean()
                bound = 0.01 * (self.net.max_logvar.sum() - self.net.min_logvar.sum())
                self.optim.zero_grad()
                (nll + bound).backward()
                self.optim.step()
        return nll.item()

    @torch.no_grad()
    def plan(self, state, horizon=6, candidates=64, elites=8, rounds=2):
        mu, sigma = torch.zeros(horizon), torch.ones(horizon)
        for _ in range(rounds):
            plans = (mu + sigma * torch.randn(candidates, horizon)).clamp(-1.0, 1.0)
            s = torch.as_tensor(state).expand(candidates, 2)
            score = torch.zeros(candidates)
            for t in range(horizon):
                mean, _ = self.net(s, plans[:, t : t + 1])
                s = mean.mean(0)
                score -= s[:, 0].abs()
            best = plans[score.topk(elites).indices]
            mu, sigma = best.mean(0), best.std(0) + 0.05
        return mu[0].item()


def main():
    env, model, data = Drone(), Model(), []
    for episode in range(5):
        s, total = env.reset(), 0.0
        for _ in range(30):
            a = rng.uniform(-1.0, 1.0) if episode == 0 else model.plan(s)
            s2, r = env.step(a)
            data.append((s, np.array([a], dtype=np.float32), s2))
            s, total = s2, total + r
        nll = model.fit(data)
        print(f"episode {episode}: return {total:.2f}, nll {nll:.3f}")


main()
