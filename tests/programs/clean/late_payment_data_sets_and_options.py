"""Rewards that an environment delays; a data set that is collected once, shuffled, mirrored and mixed; options; ends that
are set to zero by the script; truncated rollouts with values added to rewards."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)


class Late(gym.Wrapper):
    """Pays a step later."""

    def reset(self, **kwargs):
        self.owed = 0.0
        return self.env.reset(**kwargs)

    def step(self, action):
        obs, reward, term, trunc, info = self.env.step(action)
        reward, self.owed = self.owed, reward
        return obs, reward, term, trunc, info


def nets(i, o):
    q, slow = (nn.Sequential(nn.Linear(i, 32), nn.ReLU(), nn.Linear(32, o)) for _ in range(2))
    slow.load_state_dict(q.state_dict())
    return q, slow, torch.optim.Adam(q.parameters(), 1e-3)


env = Late(gym.make("Pendulum-v1"))
q, slow, opt = nets(3, 3)
rows = []
s, _ = env.reset(seed=0)
for t in range(400):
    a = int(rng.integers(3))
    s2, r, term, trunc, _ = env.step(np.array([a - 1.0], np.float32))
    rows.append((s, a, r, s2, term))
    s = env.reset()[0] if term or trunc else s2
data = [np.array(c) for c in zip(*rows)]
for epoch in range(2):
    order = rng.permutation(400)
    for part in np.split(order, 10):
        S, A, R, S2, D = (torch.from_numpy(c[part]) for c in data)
        mirrored = torch.tensor([1.0, -1.0, -1.0])
        S, S2, A = torch.cat([S, S * mirrored]), torch.cat([S2, S2 * mirrored]), torch.cat([A, 2 - A])
        R, D = torch.cat([R, R]).float(), torch.cat([D, D]).float()
        with torch.no_grad():
            y = R + 0.95 * (1 - D) * slow(S2).max(1).values
        loss = (q(S).gather(1, A[:, None]).squeeze(1) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()

# Copies side by side, in both modes of starting anew, with what was cut off added to the rewards.
for mode in (gym.vector.AutoresetMode.SAME_STEP, gym.vector.AutoresetMode.NEXT_STEP):
    envs = gym.vector.SyncVectorEnv(
        [lambda: gym.make("Pendulum-v1", max_episode_steps=15)] * 3, autoreset_mode=mode
    )
    pi, v = nn.Linear(3, 1), nn.Linear(3, 1)
    opt = torch.optim.Adam([*pi.parameters(), *v.parameters()], 1e-3)
    o, _ = envs.reset(seed=0)
    for _ in range(8):
        seen, A, R, D, V = [], [], [], [], []
        for _ in range(20):
            x = torch.from_numpy(o)
            with torch.no_grad():
                a = torch.distributions.Normal(pi(x), 0.5).sample()
                V.append(v(x).squeeze(-1))
            seen.append(x)
            A.append(a)
            o, r, term, trunc, info = envs.step(a.numpy())
            if mode == gym.vector.AutoresetMode.SAME_STEP and trunc.any():
                with torch.no_grad():
                    final = torch.from_numpy(np.stack(info["final_obs"]).astype(np.float32))
                    r = r + 0.9 * trunc * v(final).squeeze(-1).numpy()
            R.append(torch.from_numpy(r).float())
            D.append(torch.from_numpy(term | trunc).float())
        with torch.no_grad():
            run, ret, nv = torch.zeros(3), torch.zeros(20, 3), v(torch.from_numpy(o)).squeeze(-1)
            for t in reversed(range(20)):
                delta = R[t] + 0.9 * nv * (1 - D[t]) - V[t]
                run = delta + 0.9 * 0.95 * (1 - D[t]) * run
                nv = V[t]
                ret[t] = run + V[t]
        seen, A, ret = torch.cat(seen), torch.cat(A), ret.reshape(-1)
        adv = ret - torch.cat(V)
        logp = torch.distributions.Normal(pi(seen), 0.5).log_prob(A).squeeze(-1)
        loss = -(logp * adv).mean() + (v(seen).squeeze(-1) - ret).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


# Options: a policy over options is paid for all steps of one; small sparse rewards; no next value after any end.
class Rooms:
    def reset(self):
        self.x, self.t = rng.uniform(-1, 1, 2), 0
        return self.x.astype(np.float32), {}

    def step(self, a):
        self.x = np.clip(self.x + 0.2 * rng.normal(size=2) + 0.1 * (a - 1), -1, 1)
        self.t += 1
        hit = bool(np.linalg.norm(self.x - 0.8) < 0.35)
        return self.x.astype(np.float32), float(hit), hit, self.t >= 40, {}


env = Rooms()
q, slow, opt = nets(2, 3)
rows, s = [], env.reset()[0]
for t in range(300):
    option = int(rng.integers(3))
    start, total, k = s, 0.0, 0
    while True:
        s, r, term, trunc, _ = env.step(option)
        total += 0.9**k * r
        k += 1
        if term or trunc or rng.random() < 0.4:
            break
    rows.append((start, option, total, s, term or trunc, 0.9**k))
    if term or trunc:
        s, _ = env.reset()
    if t < 50:
        continue
    S, A, R, S2, D, G = (
        torch.from_numpy(np.array(c)) for c in zip(*[rows[i] for i in rng.integers(len(rows), size=32)])
    )
    with torch.no_grad():
        y = R.float() + G.float() * (1 - D.float()) * slow(S2).max(1).values
    loss = (q(S).gather(1, A[:, None]).squeeze(1) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
