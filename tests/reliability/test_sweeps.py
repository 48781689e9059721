"""A seeded sample of what `make faults` and `make hostile` do in full."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def sweep(name: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(HERE / name), *args], capture_output=True, text=True)


def test_faults_in_our_own_functions_are_contained_and_told() -> None:
    seen = sweep("injector.py", "--sample", "6", "--seed", "7")
    assert seen.returncode == 0, seen.stdout
    assert seen.stdout.splitlines()[-1].startswith("6 faults in ")


def test_damaged_and_hostile_files_are_read_or_refused() -> None:
    seen = sweep("hostile.py", "--files", "80", "--seed", "7")
    assert seen.returncode == 0, seen.stdout
    assert seen.stdout.splitlines()[-1].startswith("80 files: ")
