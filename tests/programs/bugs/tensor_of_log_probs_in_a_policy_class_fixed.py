"""The classic: saved log-probabilities are wrapped with torch.FloatTensor, beside a live entropy term."""

import torch
from torch import nn

torch.manual_seed(0)


class Memory:
    def __init__(self):
        self.log_probs, self.entropies, self.rewards = [], [], []


policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for episode in range(10):
    memory = Memory()
    for _ in range(6):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(4)))
        action = dist.sample()
        memory.log_probs.append(dist.log_prob(action))
        memory.entropies.append(dist.entropy())
        memory.rewards.append(float(torch.randn(())))
    log_probs = torch.stack(memory.log_probs)
    returns = torch.tensor(memory.rewards).flip(0).cumsum(0).flip(0)
    loss = -(log_probs * returns).mean() - 0.01 * torch.stack(memory.entropies).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
