"""A recurrent actor-critic adds its entropy to the loss.

Round 8
Class: meaning
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(826)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(5, 24)
        self.pi, self.v = nn.Linear(24, 3), nn.Linear(24, 1)

    def forward(self, window):
        hidden, _ = self.rnn(window)
        return Categorical(logits=self.pi(hidden)), self.v(hidden).squeeze(-1)


net = Recurrent()
optimizer = torch.optim.RMSprop(net.parameters(), lr=7e-4)
for update in range(50):
    window = torch.randn(10, 16, 5)
    dist, value = net(window)
    action = dist.sample()
    with torch.no_grad():
        reward = (action == (window[..., 0] > 0).long()).float()
        returns = torch.zeros_like(reward)
        total = value[-1]
        for t in reversed(range(10)):
            total = reward[t] + 0.9 * total
            returns[t] = total
        advantage = returns - value
    policy = -(dist.log_prob(action) * advantage).mean()
    critic = (value - returns).pow(2).mean()
    loss = policy + 0.5 * critic + 0.02 * dist.entropy().mean()  # BUG GS802
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    optimizer.step()
