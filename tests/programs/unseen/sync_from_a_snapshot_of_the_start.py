"""The target is loaded every twenty updates, from a state that was copied before training began.

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
        self.state = copy.deepcopy(self.online.state_dict())  # BUG GS307 GS809
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)

    def learn(self, obs, action, reward, after):
        with torch.no_grad():
            goal = reward + 0.95 * self.target(after).amax(1)  # BUG GS307
        loss = nn.functional.huber_loss(self.online(obs).gather(1, action).squeeze(1), goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def sync(self):
        self.target.load_state_dict(self.state)  # BUG GS307 GS809


agent = DQN()
for update in range(400):
    obs = torch.randn(32, 4)
    agent.learn(obs, torch.randint(3, (32, 1)), obs[:, 0], torch.randn(32, 4))
    if update % 20 == 19:
        agent.sync()
