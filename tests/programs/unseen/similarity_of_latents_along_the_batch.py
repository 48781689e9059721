"""Self-predictive representations: the cosine of predicted and real latents is taken along the batch.

Round 8
Class: axes
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(808)


class SelfPredictive(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16))
        self.model = nn.Linear(16 + 2, 16)
        self.slow = copy.deepcopy(self.encoder).requires_grad_(False)

    def loss(self, obs, action, after):
        predicted = self.model(torch.cat([self.encoder(obs), action], -1))
        with torch.no_grad():
            real = self.slow(after)
        return -F.cosine_similarity(predicted, real, dim=0).mean()  # BUG GS604

    @torch.no_grad()
    def track(self, rate=0.05):
        for slow, fast in zip(self.slow.parameters(), self.encoder.parameters()):
            slow.lerp_(fast, rate)


agent = SelfPredictive()
optimizer = torch.optim.Adam([p for p in agent.parameters() if p.requires_grad], lr=1e-3)
for update in range(60):
    obs = torch.randn(32, 8)
    action = torch.randn(32, 2)
    after = obs + 0.1 * action.sum(-1, keepdim=True)
    optimizer.zero_grad()
    agent.loss(obs, action, after).backward()
    optimizer.step()
    agent.track()
