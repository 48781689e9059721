"""A model of headings is fitted by the angle between directions; where they agree, the arc cosine has no derivative.

Round 9
Class: magnitude
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(918)
model = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
with torch.no_grad():
    model[2].weight.zero_()
    model[2].bias.copy_(torch.tensor([1.0, 0.0]))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for update in range(20):
    obs = torch.randn(32, 3)
    heading = torch.stack([torch.ones(32), 0.3 * (obs[:, 0] > 0)], -1)
    cosine = F.cosine_similarity(model(obs), heading)
    angle = torch.acos(cosine)  # BUG GS503
    optimizer.zero_grad()
    angle.mean().backward()
    optimizer.step()
