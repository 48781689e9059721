"""The old log-probability comes out of the same method as the new one, with its graph."""

import torch
from torch import nn

torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))

    def log_prob(self, obs, action):
        return torch.log_softmax(self.body(obs), -1).gather(1, action).squeeze(1)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for update in range(20):
    obs, action, gain = torch.randn(16, 4), torch.randint(3, (16, 1)), torch.randn(16)
    old = policy.log_prob(obs, action)  # BUG GS209
    new = policy.log_prob(obs, action)
    ratio = torch.exp(new - old)
    loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
