"""N-step returns by a helper that two learners share; one of them hands it the live value of the last state.

Round 3
Class: the line
"""

import torch
from torch import nn

torch.manual_seed(316)


def n_step_return(rewards, last, gamma=0.95):
    total = last
    for reward in rewards.flip(0):
        total = reward + gamma * total
    return total


class Learner:
    def __init__(self, size):
        self.net = nn.Sequential(nn.Linear(4, size), nn.Tanh(), nn.Linear(size, 1))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    def value(self, obs):
        return self.net(obs).squeeze(-1)

    def fit(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


intrinsic, extrinsic = Learner(16), Learner(32)
for update in range(60):
    obs = torch.randn(6, 24, 4)
    rewards, bonus = obs[:-1, :, 0], obs[:-1, :, 1].abs()
    with torch.no_grad():
        last = extrinsic.value(obs[-1])
    goal = n_step_return(rewards, last)
    extrinsic.fit((extrinsic.value(obs[0]) - goal).pow(2).mean())
    goal = n_step_return(bonus, intrinsic.value(obs[-1]))  # BUG GS301
    intrinsic.fit((intrinsic.value(obs[0]) - goal).pow(2).mean())
