"""The sweep takes minutes: `make processes` runs it, `make test` does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox import Sandbox

collect_ignore = [] if os.environ.get("GRADSAN_PROCESSES") else ["test_seeds.py", "test_sweep.py"]


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)
