"""The encoder runs in inference mode and its output is cloned, so heads train and the encoder does not."""

import torch
from torch import nn

torch.manual_seed(0)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
        self.q = nn.Linear(16, 3)

    def forward(self, obs):
        with torch.inference_mode():  # BUG GS202
            features = self.encoder(obs)
        return self.q(features.clone())


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
for _ in range(12):
    obs, action, wanted = torch.randn(16, 6), torch.randint(3, (16, 1)), torch.randn(16, 1)
    loss = nn.functional.huber_loss(agent(obs).gather(1, action), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
