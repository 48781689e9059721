from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))

from gradsan.runner.watch import running


@pytest.fixture(scope="session", autouse=True)
def settled_compiler() -> None:
    """PyTorch wraps some functions of its own the first time anything is compiled."""
    net = torch.nn.Linear(1, 1)
    torch.compile(net, backend="aot_eager")(torch.ones(1, 1)).sum().backward()


@pytest.fixture(autouse=True)
def no_watch_stays_open() -> Iterator[None]:
    torch.manual_seed(0)
    yield
    assert running() is None
