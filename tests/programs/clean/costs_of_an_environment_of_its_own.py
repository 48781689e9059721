"""An environment of the script's own gives costs where others give rewards: they are to be made small."""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)


class Drift:
    def __init__(self):
        self.random = np.random.default_rng(0)

    def reset(self):
        self.x = self.random.normal(size=3).astype(np.float32)
        return self.x

    def step(self, action):
        self.x = (0.9 * self.x + 0.1 * (action - 0.5) + self.random.normal(size=3)).astype(np.float32)
        cost = float(np.square(self.x).sum())
        return self.x, cost, bool(cost > 12.0), {}


env, policy = Drift(), nn.Linear(3, 2)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for _ in range(8):
    seen, actions, costs, ends = [], [], [], []
    state = env.reset()
    for _ in range(40):
        with torch.no_grad():
            action = Categorical(logits=policy(torch.tensor(state))).sample().item()
        seen.append(state)
        actions.append(action)
        state, cost, end, _ = env.step(action)
        costs.append(cost)
        ends.append(end)
        if end:
            state = env.reset()
    running, to_go = 0.0, []
    for cost, end in zip(reversed(costs), reversed(ends)):
        running = cost + 0.9 * running * (not end)
        to_go.insert(0, running)
    log_prob = Categorical(logits=policy(torch.tensor(np.array(seen)))).log_prob(torch.tensor(actions))
    loss = (log_prob * torch.tensor(to_go)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
