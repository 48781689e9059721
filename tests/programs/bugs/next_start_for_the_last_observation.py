"""Copies start anew in the same step; where an episode was truncated, the next one's first observation is kept."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
torch.manual_seed(0)


class Slide(gym.Env):
    observation_space = gym.spaces.Box(-9, 9, (3,))
    action_space = gym.spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.t = self.np_random.normal(0, 0.3, 3).astype(np.float32), 0
        return self.x.copy(), {}

    def step(self, a):
        self.x = (self.x + 0.2 * (2 * a - 1) + self.np_random.normal(0, 0.2, 3)).astype(np.float32)
        self.t += 1
        return self.x.copy(), float(-abs(self.x[0])), bool(self.x[1] > 1.5), self.t >= 10, {}


envs = gym.vector.SyncVectorEnv([Slide] * 3, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP)
q, slow = nn.Linear(3, 2), nn.Linear(3, 2)
slow.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), 1e-3)
rows = []
obs, _ = envs.reset(seed=0)
for t in range(300):
    action = rng.integers(2, size=3)
    nxt, reward, term, trunc, infos = envs.step(action)
    real = nxt.copy()
    for i in np.flatnonzero(trunc | term):
        real[i] = infos["final_obs"][i]
    rows += [(obs[i], action[i], reward[i], nxt[i], term[i]) for i in range(3)]  # BUG GS805
    obs = nxt
    if t < 40:
        continue
    pick = [rows[i] for i in rng.integers(len(rows), size=64)]
    s, a, r, s2, d = (np.array(c) for c in zip(*pick))
    s, s2, a = torch.from_numpy(s), torch.from_numpy(s2), torch.from_numpy(a)
    r, d = torch.from_numpy(r).float(), torch.from_numpy(d).float()
    with torch.no_grad():
        y = r + 0.95 * (1 - d) * slow(s2).max(1).values  # BUG GS805
    loss = (q(s).gather(1, a[:, None]).squeeze(1) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if t % 50 == 0:
        slow.load_state_dict(q.state_dict())
