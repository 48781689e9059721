"""A categorical value distribution: the log-softmax of `[B, A, N]` runs along the actions, not along the atoms.

Round 9
Class: axes
"""

import copy

import torch
from torch import nn

torch.manual_seed(907)
ACTIONS, ATOMS = 3, 11


class C51(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 48), nn.ReLU(), nn.Linear(48, ACTIONS * ATOMS))

    def forward(self, obs):
        return self.net(obs).view(-1, ACTIONS, ATOMS)


online = C51()
target = copy.deepcopy(online).requires_grad_(False)
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
support = torch.linspace(-3, 3, ATOMS)
rows = torch.arange(32)
for update in range(80):
    obs, after = torch.randn(32, 5), torch.randn(32, 5)
    action, reward = torch.randint(ACTIONS, (32,)), torch.randn(32)
    with torch.no_grad():
        probs = target(after).softmax(-1)
        best = (probs * support).sum(-1).argmax(1)
        moved = (reward[:, None] + 0.9 * support).clamp(-3, 3)
        place = (moved + 3) / 0.6
        low, high = place.floor().long(), place.ceil().long()
        share = place - low
        goal = torch.zeros(32, ATOMS)
        goal.scatter_add_(1, low, probs[rows, best] * (1 - share))
        goal.scatter_add_(1, high.clamp(max=ATOMS - 1), probs[rows, best] * share)
    log_probs = online(obs).log_softmax(dim=1)  # BUG GS604
    loss = -(goal * log_probs[rows, action]).sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 20 == 19:
        target.load_state_dict(online.state_dict())
