"""Every integration test gets a directory of its own, and no process survives it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import Lab


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path)
    yield lab
    for process in lab.started:
        process.kill()
        process.communicate()
