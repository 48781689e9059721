"""Batches whose columns differ on purpose from what the environment was given or gave: nothing is misplaced there."""

from __future__ import annotations

import pytest

from harness import run_code

REWARDS = """
import random
import numpy as np
import torch
from torch import nn

random.seed(0); torch.manual_seed(0)


class Reach:
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def reset(self):
        self.x, self.goal, self.t = self.rng.normal(0, 1, 2), self.rng.normal(0, 1, 2), 0
        return np.concatenate([self.x, self.goal]).astype(np.float32), {}

    def step(self, a):
        self.x = self.x + 0.3 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])[a]
        self.t += 1
        d = np.linalg.norm(self.x - self.goal)
        return np.concatenate([self.x, self.goal]).astype(np.float32), -float(d), bool(d < 0.3), self.t >= 20, {}


def net():
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 4))


class Running:
    def __init__(self):
        self.n, self.mean, self.m2 = 1e-4, 0.0, 1.0

    def __call__(self, r):
        self.n += 1
        d = r - self.mean
        self.mean += d / self.n
        self.m2 += d * (r - self.mean)
        return (r - self.mean) / (self.m2 / self.n) ** 0.5


def learn(kind):
    env, q, slow = Reach(), net(), net()
    slow.load_state_dict(q.state_dict())
    opt = torch.optim.Adam(q.parameters(), 1e-3)
    memory, running, average, before = [], Running(), 0.0, 0.0
    obs, _ = env.reset()
    episode = []
    for t in range(110):
        a = random.randrange(4)
        nxt, r, term, trunc, _ = env.step(a)
        if kind == "shaped":
            potential = lambda o: -float(np.abs(o[:2] - o[2:]).sum())
            r = r + 0.95 * potential(nxt) - potential(obs)
        elif kind == "clipped":
            r = max(-1.0, min(1.0, r))
        elif kind == "sign":
            r = float(np.sign(r + 1.5))
        elif kind == "scaled":
            r = 0.1 * r
        elif kind == "normalised":
            r = running(r)
        elif kind == "progress":
            r, before = r - before, r
        episode.append((obs, a, r, nxt, term))
        memory.append((obs, a, r, nxt, term))
        obs = nxt
        if term or trunc:
            if kind == "hindsight":
                goal = episode[-1][3][:2]
                for o, a_, _, n, _ in episode:
                    o2, n2 = np.concatenate([o[:2], goal]), np.concatenate([n[:2], goal])
                    memory.append((o2, a_, -float(np.linalg.norm(n[:2] - goal)), n2, False))
            if kind == "absorbing" and term:
                memory.append((nxt, random.randrange(4), 0.0, nxt, False))
            obs, _ = env.reset()
            episode, before = [], 0.0
        if len(memory) < 48:
            continue
        s, a, r, s2, d = (torch.tensor(np.array(c)) for c in zip(*random.sample(memory, 32)))
        r, d = r.float(), d.float()
        with torch.no_grad():
            ahead = slow(s2).max(1).values
            if kind == "average":
                y = r - average + ahead * (1 - d)
                average = average + 0.01 * (r.mean().item() - average)
            else:
                y = r + 0.95 * (1 - d) * ahead
        loss = (q(s).gather(1, a[:, None]).squeeze(1) - y).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        if t % 40 == 0:
            slow.load_state_dict(q.state_dict())
"""
ACTIONS = """
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)


class Line:
    def reset(self):
        self.x = rng.normal(0, 0.5, 3)
        return self.x.astype(np.float32), {}

    def step(self, a):
        a = float(np.asarray(a).reshape(-1)[0])
        self.x = self.x + 0.2 * a + rng.normal(0, 0.1, 3)
        return self.x.astype(np.float32), float(-abs(self.x[0])), bool(abs(self.x).max() > 2), False, {}


def learn(kind):
    env = Line()
    wide = 4 if kind == "queue" else 3
    q, slow = (nn.Sequential(nn.Linear(wide, 32), nn.ReLU(), nn.Linear(32, 3)) for _ in range(2))
    slow.load_state_dict(q.state_dict())
    opt = torch.optim.Adam(q.parameters(), 1e-3)
    rows, last, waiting = [], 0, 1
    obs, _ = env.reset()
    for t in range(110):
        a = int(rng.integers(3))
        done = a if not (kind == "sticky" and rng.random() < 0.25) else last
        if kind == "repeated":
            total, term = 0.0, False
            for _ in range(3):
                nxt, r, term, _, _ = env.step(a)
                total += r
                if term:
                    break
            rows.append((obs, a, total, nxt, term))
        elif kind == "last reward of several":
            for _ in range(2):
                nxt, r, term, _, _ = env.step(a)
                if term:
                    break
            rows.append((obs, a, r, nxt, term))
        elif kind == "queue":
            nxt, r, term, _, _ = env.step(waiting)
            rows.append((np.append(obs, np.float32(waiting)), a, r, np.append(nxt, np.float32(a)), term))
            waiting = a
        else:
            handed = {"centred": a - 1, "noisy": a + 0.1 * rng.normal()}.get(kind, done)
            nxt, r, term, _, _ = env.step(handed)
            rows.append((obs, a, r, nxt, term))
        last = done
        obs = env.reset()[0] if term else nxt
        if len(rows) < 48:
            continue
        s, a, r, s2, d = (np.array(c) for c in zip(*[rows[i] for i in rng.integers(len(rows), size=32)]))
        s, s2, a = torch.from_numpy(s), torch.from_numpy(s2), torch.from_numpy(a)
        r, d = torch.from_numpy(r).float(), torch.from_numpy(d).float()
        with torch.no_grad():
            y = r + 0.9 * (1 - d) * slow(s2).max(1).values
        loss = (q(s).gather(1, a[:, None]).squeeze(1) - y).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        if t % 40 == 0:
            slow.load_state_dict(q.state_dict())



def continuous(kind):
    env, pi = Line(), nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
    opt = torch.optim.Adam(pi.parameters(), 1e-3)
    obs, _ = env.reset()
    for _ in range(6):
        O, A, R = [], [], []
        for _ in range(40):
            with torch.no_grad():
                a = torch.distributions.Normal(pi(torch.from_numpy(obs)), 0.7).sample()
            handed = {"clipped": a.clamp(-1, 1), "rescaled": 2 * a, "squashed": a.tanh()}[kind]
            O.append(obs); A.append(a)
            obs, r, term, _, _ = env.step(handed.numpy())
            R.append(r if not term else r)
            if term:
                obs, _ = env.reset()
        weights = torch.tensor(R)
        logp = torch.distributions.Normal(pi(torch.from_numpy(np.array(O))), 0.7).log_prob(torch.stack(A)).squeeze(-1)
        loss = -(logp * (weights - weights.mean())).mean()
        opt.zero_grad(); loss.backward(); opt.step()
"""
TEAM = """
import random
import numpy as np
import torch
from torch import nn

random.seed(0); torch.manual_seed(0)
rng = np.random.default_rng(0)


class Team:
    def reset(self):
        self.x = rng.normal(size=(3, 2))
        return self.x.astype(np.float32)

    def step(self, actions):
        self.x = self.x + 0.2 * (np.asarray(actions)[:, None] - 0.5) + 0.1 * rng.normal(size=(3, 2))
        over = bool(np.abs(self.x).max() > 3)
        return self.x.astype(np.float32), -np.abs(self.x).sum(1), np.full(3, over), {}


def team(kind):
    env, q, slow = Team(), nn.Linear(2, 2), nn.Linear(2, 2)
    slow.load_state_dict(q.state_dict())
    opt = torch.optim.Adam(q.parameters(), 1e-3)
    rows, s = [], env.reset()
    for t in range(150):
        a = rng.integers(2, size=3)
        s2, r, d, _ = env.step(a)
        r = {"own": r, "shared": np.full(3, r.mean()), "altruist": np.roll(r, 1)}[kind]
        rows += [(s[i], a[i], r[i], s2[i], d[i]) for i in range(3)]
        s = env.reset() if d.any() else s2
        if t < 20:
            continue
        S, A, R, S2, D = (torch.tensor(np.array(c)) for c in zip(*random.sample(rows, 32)))
        y = R.float() + 0.9 * (1 - D.float()) * slow(S2).detach().max(1).values
        loss = (q(S).gather(1, A[:, None]).squeeze(1) - y).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
"""
KINDS = [
    (REWARDS, "learn", "plain"),
    (REWARDS, "learn", "shaped"),
    (REWARDS, "learn", "clipped"),
    (REWARDS, "learn", "sign"),
    (REWARDS, "learn", "scaled"),
    (REWARDS, "learn", "normalised"),
    (REWARDS, "learn", "progress"),
    (REWARDS, "learn", "hindsight"),
    (REWARDS, "learn", "absorbing"),
    (REWARDS, "learn", "average"),
    (ACTIONS, "learn", "plain"),
    (ACTIONS, "learn", "sticky"),
    (ACTIONS, "learn", "repeated"),
    (ACTIONS, "learn", "last reward of several"),
    (ACTIONS, "learn", "queue"),
    (ACTIONS, "learn", "centred"),
    (ACTIONS, "learn", "noisy"),
    (ACTIONS, "continuous", "clipped"),
    (ACTIONS, "continuous", "rescaled"),
    (ACTIONS, "continuous", "squashed"),
    (TEAM, "team", "own"),
    (TEAM, "team", "shared"),
    (TEAM, "team", "altruist"),
]


@pytest.mark.parametrize(("code", "function", "kind"), KINDS, ids=[f"{f} {kind}" for _, f, kind in KINDS])
def test_what_is_changed_on_purpose_belongs_where_it_is(code: str, function: str, kind: str) -> None:
    report = run_code(f"{code}\n{function}({kind!r})\n")
    assert not report.faults, report.faults[0]["traceback"]
    assert not report.findings, [(f.rule, f.culprit, f.message) for f in report.findings]
