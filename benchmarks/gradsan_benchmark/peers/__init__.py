"""Other tools on the same cases: each with its own best settings, which are written down."""

from __future__ import annotations

import sys
from pathlib import Path

from gradsan_benchmark.peers.linters import Linter
from gradsan_benchmark.peers.pytorch import PyTorch
from gradsan_benchmark.peers.torch_audit import TorchAudit
from gradsan_benchmark.peers.traincheck import TrainCheck
from gradsan_benchmark.tools import Tool

NAMES = ("pytorch", "anomaly", "torchfix", "mldoct", "torch-audit", "traincheck")
ENVIRONMENT = ".venv-benchmark"
# Asked for from the package index, and not there, or not to be installed.
ABSENT = {"trainlint": "could not be run: `pip install trainlint` finds no matching distribution"}


def find(words: str, root: Path) -> tuple[list[Tool], dict[str, str]]:
    """The peers that were asked for, and why some of them cannot be run."""
    asked = NAMES if words == "all" else () if words == "none" else tuple(words.split())
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = root / ENVIRONMENT / "lib" / version / "site-packages"
    commands = root / ENVIRONMENT / "bin"
    python = commands / "python"
    made: dict[str, tuple[Path, Tool]] = {
        "pytorch": (root, PyTorch()),
        "anomaly": (root, PyTorch("anomaly mode", anomaly=True)),
        "torchfix": (
            packages / "torchfix",
            Linter("TorchFix", "torchfix", "all rules", python),
        ),
        "mldoct": (packages / "mldoctor", Linter("mldoct", "mldoct", "`mldoctor check`", python)),
        "torch-audit": (packages / "torch_audit", TorchAudit(packages)),
        "traincheck": (commands / "traincheck-collect", TrainCheck(commands)),
    }
    unknown = [name for name in asked if name not in made]
    if unknown:
        raise SystemExit(f"gradsan_benchmark: unknown peers: {' '.join(unknown)}; known: {' '.join(NAMES)}")
    there = [made[name][1] for name in asked if made[name][0].exists()]
    missing = {
        name: f"could not be run: not installed in {ENVIRONMENT}"
        for name in asked
        if not made[name][0].exists()
    }
    others = {name: "not asked in this run" for name in NAMES if name not in asked}
    return there, missing | others | ABSENT
