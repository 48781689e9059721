"""Transitions go into a bounded replay together with the critic's value, which nobody detaches; only the rewards are
read again."""

from collections import deque, namedtuple

import torch
from torch import nn

torch.manual_seed(0)
Step = namedtuple("Step", "obs value reward")
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
replay = deque(maxlen=500)
for update in range(150):
    obs = torch.randn(4)
    with torch.no_grad():
        value = critic(obs)
    replay.append(Step(obs, value, obs.sum()))
    batch = [replay[i] for i in torch.randint(len(replay), (8,)).tolist()]
    loss = (
        (critic(torch.stack([s.obs for s in batch])).squeeze(-1) - torch.stack([s.reward for s in batch]))
        .pow(2)
        .mean()
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
