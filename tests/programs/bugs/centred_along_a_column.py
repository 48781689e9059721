"""A class-based REINFORCE with a baseline: the returns are a column, and are centred along its one entry per row."""

import torch
from torch import nn


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
        self.optimizer = torch.optim.SGD(self.parameters(), lr=0.05)

    def standardise(self, returns):
        return torch.sub(returns, returns.mean(-1, keepdim=True))  # BUG GS807

    def update(self, states, actions, returns):
        log_probs = self.net(states).log_softmax(-1).gather(1, actions)
        weights = self.standardise(returns)
        entropy = torch.distributions.Categorical(logits=self.net(states)).entropy()
        loss = -(log_probs * weights).mean() - 0.01 * entropy.mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


torch.manual_seed(0)
agent = Agent()
for _ in range(8):
    states = torch.randn(32, 5)
    with torch.no_grad():
        actions = torch.distributions.Categorical(logits=agent.net(states)).sample()
    returns = states[torch.arange(32), actions] * 2.0 + 0.1 * torch.randn(32)
    agent.update(states, actions[:, None], returns[:, None])
