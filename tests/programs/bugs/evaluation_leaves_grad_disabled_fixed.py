"""After the evaluation every 20 updates gradients stay switched off."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)


def evaluate():
    with torch.no_grad():
        return net(torch.randn(32, 3)).argmax(1).float().mean()


for update in range(1, 31):
    logits = net(torch.randn(16, 3))
    dist = torch.distributions.Categorical(logits=logits)
    action = dist.sample()
    loss = -(dist.log_prob(action) * torch.randn(16)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 20 == 0:
        evaluate()
