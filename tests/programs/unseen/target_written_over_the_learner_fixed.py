"""At every sync the learner gets the weights of its target.
Repaired here.

Round 10
Class: meaning
"""

import copy

import torch
from torch import nn

torch.manual_seed(1025)


class Agent:
    def __init__(self, sync_every=25):
        self.learner = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
        self.target = copy.deepcopy(self.learner)
        self.opt = torch.optim.Adam(self.learner.parameters(), lr=1e-3)
        self.sync_every, self.count = sync_every, 0

    def learn(self, obs, action, reward, after, done):
        q = self.learner(obs).gather(1, action).squeeze(1)
        with torch.no_grad():
            y = reward + 0.97 * (1 - done) * self.target(after).amax(1)
        loss = nn.functional.smooth_l1_loss(q, y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.count += 1
        if self.count % self.sync_every == 0:
            self.sync()

    def sync(self):
        self.target.load_state_dict(self.learner.state_dict())


agent = Agent()
for _ in range(150):
    obs = torch.randn(32, 4)
    agent.learn(obs, torch.randint(2, (32, 1)), obs[:, 0], torch.randn(32, 4), (torch.rand(32) < 0.1).float())
