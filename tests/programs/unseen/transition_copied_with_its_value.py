"""The worker deep-copies its last transition before it is changed; the value in it has a graph.

Round 3
Class: forward errors
"""

import copy

import torch
from torch import nn

torch.manual_seed(302)
critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(critic.parameters(), lr=0.01)


class Worker:
    def __init__(self):
        self.transition, self.rollout = {}, []

    def observe(self, obs):
        self.transition["value"] = critic(obs)  # BUG GS105
        self.transition["obs"] = obs

    def finish(self, reward):
        self.transition["reward"] = reward
        self.rollout.append(copy.deepcopy(self.transition))  # BUG GS105


worker = Worker()
for update in range(10):
    for _ in range(6):
        obs = torch.randn(3)
        worker.observe(obs)
        worker.finish(float(obs.sum()))
    obs = torch.stack([t["obs"] for t in worker.rollout])
    reward = torch.tensor([t["reward"] for t in worker.rollout])
    loss = (critic(obs).squeeze(-1) - reward).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    worker.rollout.clear()
