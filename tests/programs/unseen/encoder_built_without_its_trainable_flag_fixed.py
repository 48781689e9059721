"""An encoder is frozen unless its constructor is told otherwise, and the agent that has no pretrained one
forgets to say so.
Repaired here.

Class: the line
"""

import torch
from torch import nn

torch.manual_seed(337)


class Encoder(nn.Module):
    def __init__(self, obs_dim, width, trainable=False):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs_dim, width), nn.ReLU(), nn.Linear(width, width))
        for p in self.net.parameters():
            p.requires_grad = trainable

    def forward(self, obs):
        return torch.tanh(self.net(obs))


class QAgent(nn.Module):
    def __init__(self, obs_dim=6, actions=3, width=8):
        super().__init__()
        self.encoder = Encoder(obs_dim, width, trainable=True)
        self.q = nn.Linear(width, actions)

    def forward(self, obs):
        return self.q(self.encoder(obs))


agent = QAgent()
optimizer = torch.optim.Adam(agent.parameters(), lr=5e-3)
for step in range(200):
    obs = torch.randn(32, 6)
    action = torch.randint(0, 3, (32, 1))
    reward = obs.gather(1, action).squeeze(1)
    loss = (agent(obs).gather(1, action).squeeze(1) - reward).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
