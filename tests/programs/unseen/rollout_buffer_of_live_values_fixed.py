"""The rollout loop runs the network with gradients on and stores values and log-probs with their graphs in
a buffer that keeps the last rollouts.
Repaired here.

Class: stays alive
"""

from collections import deque

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(137)
ENVS, STEPS = 8, 16


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 2))
        self.v = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 1))

    def forward(self, obs):
        return Categorical(logits=self.pi(obs)), self.v(obs).squeeze(-1)


def rollout(net):
    steps = []
    for _ in range(STEPS):
        obs = torch.randn(ENVS, 4)
        with torch.no_grad():
            dist, value = net(obs)
        action = dist.sample()
        reward = (action == (obs[:, 0] > 0)).float()
        steps.append((obs, action, dist.log_prob(action), value, reward))
    return steps


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
buffer = deque(maxlen=200)
for iteration in range(40):
    buffer.append(rollout(net))
    obs, action, old, value, reward = (torch.stack(x) for x in zip(*buffer[-1]))
    advantage = (reward - value).detach()
    for _ in range(2):
        dist, fresh = net(obs)
        ratio = (dist.log_prob(action) - old.detach()).exp()
        policy_loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        loss = policy_loss + 0.5 * (fresh - reward).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print("reward", reward.mean().item())
