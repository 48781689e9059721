"""A recursion of the script's that only just fits without us fits under us."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import gradsan

NET = torch.nn.Linear(4, 4)
OPT = torch.optim.SGD(NET.parameters(), lr=0.1)


def update() -> None:
    loss = torch.nn.functional.mse_loss(NET(torch.ones(2, 4)), torch.zeros(2, 4))
    OPT.zero_grad()
    loss.backward()
    OPT.step()


def dive(depth: int, act: Callable[[], Any]) -> None:
    act() if depth == 0 else dive(depth - 1, act)


def deepest(act: Callable[[], Any]) -> int:
    act()
    for depth in range(1, 1000):
        try:
            dive(depth, act)
        except RecursionError:
            return depth - 1
    raise AssertionError("there is no end to it")


@pytest.fixture(autouse=True)
def low_limit() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize("mode", ["deep", "light"])
@pytest.mark.parametrize("act", [update, lambda: torch.relu(torch.ones(2)), lambda: NET(torch.ones(2, 4))])
def test_what_only_just_fits(act: Callable[[], Any], mode: Any) -> None:
    fits = deepest(act)
    with gradsan.watch(mode) as report:
        for depth in range(fits - 3, fits + 1):
            dive(depth, act)
    assert report.faults == []


def test_the_script_sees_the_limit_that_it_has_set() -> None:
    with gradsan.watch("light"):
        assert sys.getrecursionlimit() == 400
        sys.setrecursionlimit(500)
        assert sys.getrecursionlimit() == 500
        with pytest.raises(ValueError, match="greater or equal than 1"):
            sys.setrecursionlimit(0)
        sys.setrecursionlimit(400)
    assert sys.getrecursionlimit() == 400
