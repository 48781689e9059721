"""With the real Ray, which `make test` does not have: `make ray` runs these."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from sandbox import Sandbox

collect_ignore = [] if importlib.util.find_spec("ray") else ["test_ray.py"]


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)
