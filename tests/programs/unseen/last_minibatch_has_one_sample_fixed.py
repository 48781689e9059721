"""Advantages are normalised per minibatch; a rollout of 65 leaves one sample for the last, whose spread is not a
number.
Repaired here.

Round 2
Class: magnitude
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(233)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
ROLLOUT, MINIBATCH = 65, 16


def minibatches(n, size):
    order = torch.randperm(n)
    for start in range(0, n, size):
        if n - start >= size:
            yield order[start : start + size]


for iteration in range(6):
    obs = torch.randn(ROLLOUT, 4)
    with torch.no_grad():
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        old = dist.log_prob(action)
    reward = (action == obs[:, :3].argmax(1)).float() + 0.01 * torch.randn(ROLLOUT)
    for rows in minibatches(ROLLOUT, MINIBATCH):
        advantage = reward[rows]
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        new = torch.log_softmax(policy(obs[rows]), -1).gather(1, action[rows, None])[:, 0]
        ratio = (new - old[rows]).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
        optimizer.step()
