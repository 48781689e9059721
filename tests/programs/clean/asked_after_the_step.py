"""The value of a state, and the score of what was done there, are computed after the step was taken."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)


class Walk:
    def __init__(self):
        self.random = np.random.default_rng(0)

    def reset(self):
        self.x = self.random.normal(size=3).astype("float32")
        return self.x.copy(), {}

    def step(self, action):
        self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
        return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 3), False, {}


env, policy, critic = Walk(), nn.Linear(3, 2), nn.Linear(3, 1)
opt = torch.optim.Adam([*policy.parameters(), *critic.parameters()], 1e-3)
obs, _ = env.reset()
for _ in range(12):
    values, logps, rewards = [], [], []
    for _ in range(30):
        x = torch.from_numpy(obs)
        with torch.no_grad():
            a = torch.distributions.Categorical(logits=policy(x)).sample()
        obs, r, over, _, _ = env.step(a.item())
        values.append(critic(x).squeeze())
        logps.append(torch.distributions.Categorical(logits=policy(x)).log_prob(a))
        rewards.append(r)
        if over:
            obs, _ = env.reset()
            break
    with torch.no_grad():
        g = 0.0 if over else critic(torch.from_numpy(obs)).item()
    returns = []
    for r in reversed(rewards):
        g = r + 0.9 * g
        returns.insert(0, g)
    returns, values = torch.tensor(returns), torch.stack(values)
    loss = -(torch.stack(logps) * (returns - values.detach())).mean() + (values - returns).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
