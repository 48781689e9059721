"""Independent Q-learners, as many agents as actions: the maximum of the next values runs over the agents.

Class: axes
"""

import copy

import torch
from torch import nn

torch.manual_seed(89)
AGENTS = ACTIONS = 4


class SharedQ(nn.Module):
    """One network for all agents; each is told its number."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4 + AGENTS, 32), nn.ReLU(), nn.Linear(32, ACTIONS))

    def forward(self, obs):
        number = torch.eye(AGENTS).expand(*obs.shape[:-2], AGENTS, AGENTS)
        return self.net(torch.cat([obs, number], -1))


def next_value(network, obs):
    with torch.no_grad():
        return network(obs).max(dim=-2).values  # BUG GS604


online = SharedQ()
target = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters(), lr=3e-3)
for update in range(150):
    obs, next_obs = torch.randn(16, AGENTS, 4), torch.randn(16, AGENTS, 4)
    action = torch.randint(0, ACTIONS, (16, AGENTS, 1))
    reward = obs.gather(-1, action).squeeze(-1)
    chosen = online(obs).gather(-1, action).squeeze(-1)
    goal = reward + 0.7 * next_value(target, next_obs)
    loss = (chosen - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 15 == 14:
        target.load_state_dict(online.state_dict())
print("loss", loss.item())
