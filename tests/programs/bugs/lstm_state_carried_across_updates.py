"""Recurrent policy: the LSTM state of the last segment enters the next one with its graph."""

import torch
from torch import nn

torch.manual_seed(0)


class RecurrentAgent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 8)
        self.head = nn.Linear(8, 2)
        self.state = None

    def forward(self, segment):
        hidden, state = self.lstm(segment, self.state)
        self.state = state  # BUG GS305 GS402
        return torch.distributions.Categorical(logits=self.head(hidden))


agent = RecurrentAgent()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
for _ in range(8):
    dist = agent(torch.randn(5, 3, 4))
    action, advantage = dist.sample(), torch.randn(5, 3)
    loss = -(dist.log_prob(action) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()  # BUG GS402
    optimizer.step()
