"""`==` where `%` was meant: the target is synced once."""

import torch
from torch import nn

torch.manual_seed(0)
SYNC_EVERY = 40


class DQN:
    def __init__(self):
        self.online, self.target = self.build(), self.build()
        self.sync()
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)
        self.updates = 0

    def build(self):
        return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

    def sync(self):
        self.target.load_state_dict(self.online.state_dict())  # BUG GS307

    def learn(self):
        obs, action = torch.randn(32, 4), torch.randint(2, (32, 1))
        reward, following = torch.randn(32), torch.randn(32, 4)
        with torch.no_grad():
            goal = reward + 0.9 * self.target(following).max(1).values  # BUG GS307
        loss = nn.functional.smooth_l1_loss(self.online(obs).gather(1, action).squeeze(1), goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates == SYNC_EVERY:
            self.sync()  # BUG GS307


agent = DQN()
for _ in range(500):
    agent.learn()
