"""Whole training programs that nobody wrote for a rule: bugs, their repaired twins, and right code that
looks wrong. A trailing comment `# BUG GS301` marks a line that a person would have to change; with several
codes or lines, any of them is a right answer. `make test` tries every second program, with its twin, in the default
mode, and every sixth in deep mode, too; `make programs` all in both."""

from __future__ import annotations

import os
import re
import warnings
import zlib
from pathlib import Path

import pytest
import torch

from gradsan.judge.report.findings import Report
from harness import run_code

HERE = Path(__file__).parent
MODES = ("adaptive", "deep")
EVERYTHING = bool(os.environ.get("GRADSAN_ALL_MODES"))
MARKED = re.compile(r"# BUG ((?:GS\d{3} ?)+)")


def programs(folder: str, keep: bool = True) -> list[Path]:
    """The programs of a folder; of the bugs, those with (or without) a planted bug."""
    found = sorted((HERE / folder).glob("*.py"))
    return [p for p in found if folder == "clean" or p.stem.endswith("_fixed") != keep]


def cases(paths: list[Path]) -> list[object]:
    return [
        pytest.param(path, mode, id=f"{path.stem}-{mode}") for path in paths for mode in modes_for(path.stem)
    ]


def modes_for(name: str) -> tuple[str, ...]:
    number = zlib.crc32(name.removesuffix("_fixed").encode())
    if EVERYTHING or number % 6 == 0:
        return MODES
    return MODES[:1] if number % 2 == 0 else ()


@pytest.fixture(autouse=True)
def as_a_fresh_process():
    """Some programs switch gradients or warnings off and leave it so."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings(), torch.random.fork_rng():
        warnings.simplefilter("ignore")
        yield
    torch.set_num_threads(threads)
    torch.set_grad_enabled(True)


def run(path: Path, mode: str, may_raise: bool = False) -> Report:
    report = run_code(path.read_text(encoding="utf-8"), mode, path.stem, may_raise)
    torch.set_grad_enabled(True)
    assert not report.faults, report.faults[0]["traceback"]
    return report


def summary(report: Report) -> list[tuple[str, int | None, str]]:
    return [(f.rule, f.culprit and f.culprit.line, f.message) for f in report.findings]


@pytest.mark.parametrize(("path", "mode"), cases(programs("bugs")))
def test_bug_is_named_on_a_marked_line_and_no_other_error_is(path, mode):
    lines = path.read_text(encoding="utf-8").splitlines()
    marked = {n: m.group(1).split() for n, line in enumerate(lines, 1) if (m := MARKED.search(line))}
    report = run(path, mode, may_raise=True)
    named = [f for f in report.findings if f.culprit and f.rule in marked.get(f.culprit.line, ())]
    assert named, f"wanted {marked}, got {summary(report)}"
    codes = {code for codes in marked.values() for code in codes}
    others = [f.rule for f in report.findings if f.severity == "error" and f.rule not in codes]
    assert not others, summary(report)


@pytest.mark.parametrize(("path", "mode"), cases(programs("bugs", keep=False) + programs("clean")))
def test_right_program_is_silent(path, mode):
    report = run(path, mode)
    assert not report.findings, summary(report)
