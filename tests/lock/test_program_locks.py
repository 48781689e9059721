"""A few of the programs of tests/programs, with their locks; `make lock-check` tries all of them in all variants."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
import torch
from flows import changes, flow_of, unstable
from same_locks import SAME, UNSTABLE

BUGS = Path(__file__).parents[1] / "programs" / "bugs"
PAIRS = sorted(path for path in BUGS.glob("*.py") if not path.stem.endswith("_fixed"))
TRIED = [path for path in PAIRS if zlib.crc32(path.stem.encode()) % 36 == 5]


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_every_reason_is_about_a_program_that_is_there():
    names = {path.stem for folder in ("bugs", "clean") for path in BUGS.parent.glob(f"{folder}/*.py")}
    assert set(SAME) | set(UNSTABLE) <= names


@pytest.mark.parametrize("path", TRIED, ids=lambda path: path.stem)
def test_a_bug_has_another_lock_than_its_twin_unless_there_is_a_reason(path):
    code = path.with_name(f"{path.stem}_fixed.py").read_text(encoding="utf-8")
    twin = flow_of(code)
    different = changes(twin, flow_of(path.read_text(encoding="utf-8")))
    assert bool(different) != (path.stem in SAME), different
    if path in TRIED[::3]:
        assert not unstable(code, twin, ("adaptive", "other seeds", "other names and lines"))
