"""Off-policy with a learned model of the behaviour, fitted in the same loss: the ratio lets gradient into that model.
Repaired here.

Round 11
Class: weights
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1113)


class OffPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.target_policy = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 3))
        self.behaviour = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 3))

    def loss(self, obs, action, advantage):
        new = F.log_softmax(self.target_policy(obs), -1).gather(1, action).squeeze(1)
        old = F.log_softmax(self.behaviour(obs), -1).gather(1, action).squeeze(1)
        ratio = (new - old.detach()).exp()
        policy = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        return policy - old.mean()


agent = OffPolicy()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
for update in range(50):
    obs, action = torch.randn(64, 5), torch.randint(3, (64, 1))
    reward = (action.squeeze(1) == obs[:, :3].argmax(-1)).float()
    optimizer.zero_grad()
    agent.loss(obs, action, reward - reward.mean()).backward()
    optimizer.step()
