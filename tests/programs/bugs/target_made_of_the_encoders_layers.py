"""The target encoder is a new container with the old layers in it: what follows the encoder is the encoder."""

import torch
from torch import nn


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
        self.head = nn.Linear(8, 2)
        self.target_encoder = nn.Sequential(*self.encoder.children())  # BUG GS306


torch.manual_seed(0)
agent = Agent()
optimizer = torch.optim.Adam([*agent.encoder.parameters(), *agent.head.parameters()], lr=1e-3)

for _ in range(16):
    obs, following, action, reward = (
        torch.randn(32, 4),
        torch.randn(32, 4),
        torch.randint(2, (32, 1)),
        torch.randn(32, 1),
    )
    with torch.no_grad():
        wanted = reward + 0.9 * agent.head(agent.target_encoder(following)).amax(1, keepdim=True)
    loss = nn.functional.mse_loss(agent.head(agent.encoder(obs)).gather(1, action), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for new, old in zip(agent.encoder.parameters(), agent.target_encoder.parameters(), strict=True):
            old.lerp_(new, 0.05)
