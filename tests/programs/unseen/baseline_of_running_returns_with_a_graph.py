"""A running baseline is mixed with bootstrapped returns that are still attached to the critic.

Round 4
Class: stays alive
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(412)


class Baseline:
    def __init__(self):
        self.value = torch.zeros(())

    def update(self, returns):
        self.value = 0.95 * self.value + 0.05 * returns.mean()  # BUG GS305


trunk = nn.Sequential(nn.Linear(5, 24), nn.Tanh())
pi, vf = nn.Linear(24, 3), nn.Linear(24, 1)
optimizer = torch.optim.Adam([*trunk.parameters(), *pi.parameters(), *vf.parameters()], lr=1e-3)
baseline = Baseline()
for update in range(80):
    obs = torch.randn(20, 5)
    hidden = trunk(obs)
    dist, value = Categorical(logits=pi(hidden)), vf(hidden).squeeze(-1)
    action = dist.sample()
    reward = (action == obs[:, :3].argmax(-1)).float()
    returns = reward[:-1] + 0.9 * value[1:]
    baseline.update(returns)
    advantage = (returns - baseline.value).detach()
    loss = -(dist.log_prob(action)[:-1] * advantage).mean()
    loss = loss + 0.5 * (value[:-1] - returns.detach()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
