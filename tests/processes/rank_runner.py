"""Starts `ranks.py`, which runs programs on several ranks, and gives back what it reports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 900  # seconds for all of them; a rank that waits for another in vain would wait for half an hour


def on_ranks(folders: pytest.TempPathFactory, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("ranks.py"))]
    seen = subprocess.run(
        [*command, str(folders.mktemp("ranks"))],
        input=json.dumps(asked), capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert seen.returncode == 0, seen.stderr[-3000:]
    found: list[dict[str, Any]] = json.loads(seen.stdout)
    return found
