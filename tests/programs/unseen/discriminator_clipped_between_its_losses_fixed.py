"""A Wasserstein discriminator for imitation: its weights are clipped after the scores were computed.
Repaired here.

Round 5
Class: hidden writes
"""

import torch
from torch import nn

torch.manual_seed(514)

critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.RMSprop(critic.parameters(), lr=5e-4)


def clip_weights(limit=0.05):
    for p in critic.parameters():
        p.data.clamp_(-limit, limit)


for update in range(40):
    clip_weights()
    expert, agent = torch.randn(32, 6) + 0.5, torch.randn(32, 6)
    loss = critic(agent).mean() - critic(expert).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
