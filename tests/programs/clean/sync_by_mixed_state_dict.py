"""The target gets a state dict mixed by hand; zero_grad stands between the loss and backward."""

import torch
from torch import nn

torch.manual_seed(0)


class Agent:
    def __init__(self):
        self.q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        self.q_target = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        self.q_target.load_state_dict(self.q.state_dict())
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=1e-3, amsgrad=True)

    def optimise(self, obs, action, reward, next_obs):
        chosen = self.q(obs).gather(1, action)
        with torch.no_grad():
            best = self.q_target(next_obs).max(1).values
        loss = nn.SmoothL1Loss()(chosen, (reward + 0.99 * best).unsqueeze(1))
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(self.q.parameters(), 100)
        self.optimizer.step()
        online, mixed = self.q.state_dict(), self.q_target.state_dict()
        for key in online:
            mixed[key] = online[key] * 0.005 + mixed[key] * 0.995
        self.q_target.load_state_dict(mixed)


agent = Agent()
for _ in range(20):
    agent.optimise(torch.randn(16, 4), torch.randint(2, (16, 1)), torch.randn(16), torch.randn(16, 4))
