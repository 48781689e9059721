"""Every hundred updates the critic starts anew, as against primacy bias; its optimizer stays with the old one.

Round 8
Class: late and rare
"""

import torch
from torch import nn


def make_critic():
    return nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))


class Learner:
    def __init__(self, reset_every=100):
        self.reset_every, self.updates = reset_every, 0
        self.critic = make_critic()
        self.slow = make_critic()
        self.slow.load_state_dict(self.critic.state_dict())
        self.optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)  # BUG GS206 GS205

    def maybe_reset(self):
        if self.updates % self.reset_every == 0:
            self.critic = make_critic()  # BUG GS206 GS205
            self.slow.load_state_dict(self.critic.state_dict())

    def update(self, obs, reward, after):
        self.updates += 1
        with torch.no_grad():
            goal = reward + 0.9 * self.slow(after)
        loss = (self.critic(obs) - goal).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            for s, p in zip(self.slow.parameters(), self.critic.parameters()):
                s.lerp_(p, 0.02)
        self.maybe_reset()


torch.manual_seed(811)
learner = Learner()
for _ in range(260):
    obs = torch.randn(32, 5)
    learner.update(obs, obs[:, :1], obs + 0.1 * torch.randn(32, 5))
