"""A freeze that is lifted later, in every way of lifting it, is no freeze for good; one that stays is told."""

from __future__ import annotations

import pytest
import torch

import gradsan

UPDATES = 60


def _train(thaw_at: int, how: str) -> set[str]:
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))

    def freeze(on: bool) -> None:
        if how == "module":
            net[0].requires_grad_(not on)
        for param in net[0].parameters():
            param.requires_grad = not on

    with gradsan.watch() as report:
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        freeze(True)
        for update in range(UPDATES):
            if update == thaw_at:
                freeze(False)
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return {finding.rule for finding in report.findings}


@pytest.mark.parametrize("how", ["module", "attribute"])
@pytest.mark.parametrize("thaw_at", [3, 20, 40])
def test_a_freeze_that_is_lifted_is_not_reported(thaw_at: int, how: str) -> None:
    assert _train(thaw_at, how) == set()


@pytest.mark.parametrize("how", ["module", "attribute"])
def test_a_freeze_that_stays_is_reported(how: str) -> None:
    assert _train(UPDATES, how) == {"GS207"}
