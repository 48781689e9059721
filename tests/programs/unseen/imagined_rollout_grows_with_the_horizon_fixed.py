"""A linear recurrent world model is unrolled over a horizon that a curriculum lengthens: its gradient grows
by powers of the recurrent matrix and nothing limits it.
Repaired here.

Class: magnitude
"""

import torch
from torch import nn

torch.manual_seed(271)


class LinearDynamics(nn.Module):
    def __init__(self, latent=12):
        super().__init__()
        self.encode = nn.Linear(3, latent)
        self.advance = nn.Linear(latent, latent, bias=False)
        self.decode = nn.Linear(latent, 3)
        with torch.no_grad():
            self.advance.weight.copy_(0.99 * torch.linalg.qr(torch.randn(latent, latent))[0])

    def forward(self, obs, horizon):
        state = self.encode(obs)
        for _ in range(horizon):
            state = self.advance(state)
        return self.decode(state)


model = LinearDynamics()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for update in range(120):
    horizon = 4 + 10 * (update // 20)
    obs = torch.randn(32, 3)
    goal = 0.5 * obs.flip(-1)
    loss = (model(obs, horizon) - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
