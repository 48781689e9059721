"""Gradient that a target network gets for nothing is named where the network is asked, not inside its forward."""

from __future__ import annotations

from harness import run_code

UPDATE = """
import copy
import torch
from torch import nn

class Values(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.last(self.first(x).relu())

def update():
    state, reward, following = torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 3)
    best = target(following).max(1, keepdim=True).values  # HERE
    loss = (online(state)[:, :1] - (reward + 0.9 * best)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

online = Values()
target = copy.deepcopy(online)
optimizer = torch.optim.SGD(online.parameters(), lr=0.01)
for step in range(12):
    update()
    if step % 3 == 0:
        target.load_state_dict(online.state_dict())
"""


def test_the_line_that_asks_the_target_network_is_named() -> None:
    [finding] = run_code(UPDATE, "adaptive").findings
    assert (finding.rule, finding.severity) == ("GS302", "info")
    assert finding.culprit is not None
    assert finding.culprit.line == 1 + UPDATE.split("# HERE")[0].count("\n")
