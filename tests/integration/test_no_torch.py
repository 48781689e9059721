"""The cheap commands answer without importing torch."""

from __future__ import annotations

import pytest

from gradsan.record.trace import TraceWriter
from sandbox import Sandbox

ASK = """
import sys
from gradsan.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
assert "torch" not in sys.modules
assert "numpy" not in sys.modules
"""


@pytest.mark.parametrize(
    "args",
    [
        ["--help"],
        ["--version"],
        ["run", "--help"],
        ["report", "run.trace"],
        ["report", "run.trace", "--html", "run.html"],
        ["explain", "--list"],
        ["lint", "train.py"],
        ["explain", "GS401"],
        ["explain", "stale-gradient", "--format", "json"],
        ["run", "-c", "import sys; sys.exit(0)"],
    ],
    ids=" ".join,
)
def test_without_torch(sandbox: Sandbox, args: list[str]) -> None:
    TraceWriter(sandbox.path / "run.trace", script="x.py", mode="deep").finish()
    sandbox.write("train.py", "import torch\nopt.step()\n")
    seen = sandbox.python("-c", ASK, *args)
    assert seen.returncode == 0, seen.stderr
