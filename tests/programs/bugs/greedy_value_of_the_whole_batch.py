"""A recurrent Q-learner bootstraps from the largest value of the whole batch in place of that of each step."""

import copy

import torch
from torch import nn

torch.manual_seed(33)
STEPS, ACTIONS = 6, 3


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory, self.head = nn.GRU(4, 16, batch_first=True), nn.Linear(16, ACTIONS)

    def forward(self, obs):
        return self.head(self.memory(obs)[0])


net = Recurrent()
lagged = copy.deepcopy(net)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(25):
    obs, reward = torch.randn(8, STEPS + 1, 4), torch.randn(8, STEPS)
    action = torch.randint(0, ACTIONS, (8, STEPS, 1))
    with torch.no_grad():
        best = lagged(obs[:, 1:]).max()  # BUG GS604
        target = reward + 0.95 * best
    chosen = net(obs[:, :-1]).gather(2, action).squeeze(2)
    loss = (chosen - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 8 == 7:
        lagged.load_state_dict(net.state_dict())
