"""A dueling head subtracts the mean of all advantages of the batch in place of each state's own mean.
Repaired here.

Class: axes
"""

import copy

import torch
from torch import nn

torch.manual_seed(101)


class Dueling(nn.Module):
    def __init__(self, obs_dim=4, actions=3):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs_dim, 32), nn.ReLU())
        self.value, self.advantage = nn.Linear(32, 1), nn.Linear(32, actions)

    def forward(self, obs):
        hidden = self.trunk(obs)
        advantage = self.advantage(hidden)
        return self.value(hidden) + advantage - advantage.mean(-1, keepdim=True)


class Learner:
    def __init__(self):
        self.online = Dueling()
        self.target = copy.deepcopy(self.online)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=3e-3)

    def update(self, obs, action, reward, next_obs):
        with torch.no_grad():
            best = self.online(next_obs).argmax(1, keepdim=True)
            goal = reward + 0.9 * self.target(next_obs).gather(1, best).squeeze(1)
        loss = (self.online(obs).gather(1, action).squeeze(1) - goal).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            for old, new in zip(self.target.parameters(), self.online.parameters()):
                old.lerp_(new, 0.02)
        return loss.item()


learner = Learner()
for step in range(120):
    obs = torch.randn(32, 4)
    action = torch.randint(0, 3, (32, 1))
    loss = learner.update(obs, action, obs.gather(1, action).squeeze(1), torch.randn(32, 4))
print("loss", loss)
