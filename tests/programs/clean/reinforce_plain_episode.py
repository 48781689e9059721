"""REINFORCE as in every tutorial: deque of rewards, list of losses, cat and sum."""

from collections import deque

import torch
from torch import nn

torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1, self.dropout, self.affine2 = nn.Linear(4, 16), nn.Dropout(0.3), nn.Linear(16, 2)
        self.saved_log_probs, self.rewards = [], []

    def forward(self, x):
        return torch.softmax(self.affine2(torch.relu(self.dropout(self.affine1(x)))), dim=1)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
running = 10.0
for episode in range(10):
    total = 0.0
    for _ in range(7):
        dist = torch.distributions.Categorical(policy(torch.randn(4).unsqueeze(0)))
        action = dist.sample()
        policy.saved_log_probs.append(dist.log_prob(action))
        reward = float(action.item() * 0.5 + torch.randn(()).item())
        policy.rewards.append(reward)
        total += reward
    running = 0.05 * total + 0.95 * running
    R, returns = 0.0, deque()
    for r in policy.rewards[::-1]:
        R = r + 0.99 * R
        returns.appendleft(R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    losses = [-log_prob * R for log_prob, R in zip(policy.saved_log_probs, returns)]
    optimizer.zero_grad()
    loss = torch.cat(losses).sum()
    loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]
