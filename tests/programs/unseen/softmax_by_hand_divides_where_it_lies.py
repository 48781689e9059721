"""A softmax written by hand divides the exponentials in place.

Round 11
Class: forward errors
"""

import torch
from torch import nn

torch.manual_seed(1101)


def probabilities(logits):
    weight = (logits - logits.amax(-1, keepdim=True)).exp()
    weight /= weight.sum(-1, keepdim=True)  # BUG GS101
    return weight


net = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 4))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for update in range(20):
    obs = torch.randn(32, 5)
    probs = probabilities(net(obs))
    action = torch.multinomial(probs.detach(), 1)
    reward = (action.squeeze(1) == obs[:, :4].argmax(-1)).float() - 0.25
    loss = -(probs.gather(1, action).squeeze(1).clamp(min=1e-6) * reward).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
