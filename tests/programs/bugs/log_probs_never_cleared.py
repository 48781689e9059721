"""The list of log-probabilities is not cleared between episodes."""

import torch
from torch import nn

torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)
        self.log_probs, self.rewards = [], []

    def act(self, obs):
        dist = torch.distributions.Categorical(logits=self.net(obs))
        action = dist.sample()
        self.log_probs.append(dist.log_prob(action))  # BUG GS402 GS305
        return action.item()


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(5):
    for _ in range(6):
        action = policy.act(torch.randn(4))
        policy.rewards.append(1.0 - action)
    returns = torch.tensor(policy.rewards).flip(0).cumsum(0).flip(0)
    loss = -(torch.stack(policy.log_probs) * returns).sum()
    optimizer.zero_grad()
    loss.backward()  # BUG GS402 GS102
    optimizer.step()
    policy.rewards = policy.rewards[:]
