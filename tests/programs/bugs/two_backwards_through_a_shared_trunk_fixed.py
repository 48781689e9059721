"""Policy and value loss share a trunk; the first backward frees what the second needs."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
        self.pi, self.v = nn.Linear(16, 2), nn.Linear(16, 1)

    def forward(self, obs):
        hidden = self.trunk(obs)
        return self.pi(hidden), self.v(hidden).squeeze(-1)


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(6):
    obs, action, returns = torch.randn(16, 4), torch.randint(2, (16,)), torch.randn(16)
    logits, value = net(obs)
    policy_loss = (nn.functional.cross_entropy(logits, action, reduction="none") * returns).mean()
    value_loss = (value - returns).pow(2).mean()
    optimizer.zero_grad()
    policy_loss.backward(retain_graph=True)
    value_loss.backward()
    optimizer.step()
