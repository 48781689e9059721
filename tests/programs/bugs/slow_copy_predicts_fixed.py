"""Double Q-learning in which the network that learns predicts."""

import copy

import torch
from torch import nn

torch.manual_seed(0)


class Values(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 32), nn.Linear(32, 3)

    def forward(self, obs):
        return self.head(torch.relu(self.body(obs)))


online = Values()
lagged = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
for step in range(16):
    obs, action, reward, after = (
        torch.randn(16, 4),
        torch.randint(3, (16, 1)),
        torch.randn(16),
        torch.randn(16, 4),
    )
    with torch.no_grad():
        best = online(after).argmax(1, keepdim=True)
        target = reward + 0.99 * lagged(after).gather(1, best).squeeze(1)
    chosen = online(obs).gather(1, action).squeeze(1)
    loss = nn.functional.smooth_l1_loss(chosen, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 3:
        lagged.load_state_dict(online.state_dict())
