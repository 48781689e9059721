"""Two losses share a trunk; the helper steps for the first while the second still needs the old weights."""

import torch
from torch import nn

torch.manual_seed(0)
trunk, policy, value = nn.Linear(4, 16), nn.Linear(16, 3), nn.Linear(16, 1)
optimizer = torch.optim.Adam([*trunk.parameters(), *policy.parameters(), *value.parameters()], lr=1e-3)


def backprop(loss):
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()


for update in range(10):
    obs, action, gain = torch.randn(16, 4), torch.randint(3, (16, 1)), torch.randn(16)
    features = torch.tanh(trunk(obs))
    policy_loss = -(torch.log_softmax(policy(features), -1).gather(1, action).squeeze(1) * gain).mean()
    value_loss = (value(features).squeeze(-1) - gain).pow(2).mean()
    backprop(policy_loss)  # BUG GS102
    backprop(value_loss)  # BUG GS102
