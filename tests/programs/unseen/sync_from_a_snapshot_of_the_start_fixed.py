"""The target is loaded every twenty updates, from a state that was copied before training began.
Repaired here.

Round 9
Class: late and rare
"""

import copy

import torch
from torch import nn

torch.manual_seed(910)


class DQN:
    def __init__(self):
        self.online = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
        self.target = copy.deepcopy(self.online)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)

    def learn(self, obs, action, reward, after):
        with torch.no_grad():
            goal = reward + 0.95 * self.target(after).amax(1)
        loss = nn.functional.huber_loss(self.online(obs).gather(1, action).squeeze(1), goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def sync(self):
        self.target.load_state_dict(self.online.state_dict())


agent = DQN()
for update in range(400):
    obs = torch.randn(32, 4)
    agent.learn(obs, torch.randint(3, (32, 1)), obs[:, 0], torch.randn(32, 4))
    if update % 20 == 19:
        agent.sync()
