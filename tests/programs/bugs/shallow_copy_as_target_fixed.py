"""copy.copy of a module shares every parameter with the original."""

import copy

import torch
from torch import nn

torch.manual_seed(0)


class Agent:
    def __init__(self):
        self.q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        self.frozen = copy.deepcopy(self.q)
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=1e-3)

    def update(self, obs, action, reward, next_obs):
        with torch.no_grad():
            wanted = reward + 0.95 * self.frozen(next_obs).amax(-1)
        loss = (self.q(obs).gather(1, action).squeeze(1) - wanted).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def sync(self):
        self.frozen.load_state_dict(self.q.state_dict())


agent = Agent()
for step in range(1, 21):
    agent.update(torch.randn(16, 4), torch.randint(2, (16, 1)), torch.randn(16), torch.randn(16, 4))
    if step % 5 == 0:
        agent.sync()
