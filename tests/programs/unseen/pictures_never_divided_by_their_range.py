"""A critic on pictures with squashing units gets bytes as they are: its units are saturated from the first forward.

Round 9
Class: zero in part
"""

import torch
from torch import nn

torch.manual_seed(905)


class PictureCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 8, 4, stride=2)
        self.second = nn.Linear(8 * 5 * 5, 32)
        self.out = nn.Linear(32, 1)

    def forward(self, frame):
        x = frame.float()  # BUG GS208 GS502
        x = torch.tanh(self.first(x))  # BUG GS208 GS502
        return self.out(torch.tanh(self.second(x.flatten(1)))).squeeze(-1)


critic = PictureCritic()
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(120):
    frame = torch.randint(120, 256, (16, 1, 12, 12), dtype=torch.uint8)
    returns = frame.float().mean((1, 2, 3)) / 255.0
    loss = (critic(frame) - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
