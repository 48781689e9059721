"""Generalised advantages over a rollout of several episodes: the carry is not cut where an episode ends.
Repaired here.

Round 4
Class: meaning
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(430)
rng = np.random.default_rng(430)


class Corridor:
    def reset(self, seed=None):
        self.place, self.time = 0, 0
        return self.view(), {}

    def view(self):
        return np.array([self.place / 5, self.time / 20, 1.0], dtype=np.float32)

    def step(self, action):
        self.time += 1
        self.place = max(0, self.place + (1 if action == 1 else -1))
        ended = self.place >= 4
        return self.view(), float(ended) + 0.1 * float(rng.normal()), ended, self.time >= 15, {}


net = nn.Sequential(nn.Linear(3, 32), nn.Tanh())
pi, vf = nn.Linear(32, 2), nn.Linear(32, 1)
optimizer = torch.optim.Adam([*net.parameters(), *pi.parameters(), *vf.parameters()], lr=3e-3)
env = Corridor()
obs, _ = env.reset()
for update in range(25):
    seen, actions, rewards, ends, values = [], [], [], [], []
    for t in range(64):
        with torch.no_grad():
            hidden = net(torch.as_tensor(obs))
            action = Categorical(logits=pi(hidden)).sample()
            values.append(vf(hidden).item())
        seen.append(obs)
        actions.append(action.item())
        obs, reward, terminated, truncated, _ = env.step(action.item())
        rewards.append(reward)
        ends.append(float(terminated or truncated))
        if terminated or truncated:
            obs, _ = env.reset()
    with torch.no_grad():
        last = vf(net(torch.as_tensor(obs))).item()
    advantages, carry = np.zeros(64, dtype=np.float32), 0.0
    for t in reversed(range(64)):
        after = values[t + 1] if t < 63 else last
        error = rewards[t] + 0.99 * after * (1 - ends[t]) - values[t]
        carry = error + 0.99 * 0.95 * (1 - ends[t]) * carry
        advantages[t] = carry
    returns = torch.as_tensor(advantages + np.array(values, dtype=np.float32))
    advantage = torch.as_tensor(advantages)
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    hidden = net(torch.as_tensor(np.stack(seen)))
    logp = Categorical(logits=pi(hidden)).log_prob(torch.tensor(actions))
    loss = -(logp * advantage).mean() + 0.5 * (vf(hidden).squeeze(-1) - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
