"""A metric casts the probabilities to single precision, which they are already, and masks what it got in place.

Round 10
Class: forward errors
"""

import torch
from torch import nn

torch.manual_seed(1002)


def confidence(probs, mask):
    wide = probs.float()
    wide.mul_(mask)  # BUG GS101
    return wide.amax(-1).mean()


policy = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 5))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
track = []
for update in range(30):
    obs, mask = torch.randn(32, 6), (torch.rand(32, 5) > 0.2).float()
    probs = policy(obs).softmax(-1)
    action = torch.multinomial(probs.detach() + 1e-6, 1)
    reward = (action.squeeze(1) == obs[:, :5].argmax(1)).float()
    chosen = probs.gather(1, action).squeeze(1)
    with torch.no_grad():
        track.append(confidence(probs, mask).item())
    loss = -(chosen * (reward - reward.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
