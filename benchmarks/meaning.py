"""How the 8xx rules do on the programs of tests/programs: `make meaning` writes docs/meaning.md.

For each rule the pairs of a bug and its repaired twin that are marked with it, how many were named on a marked line
in both modes, how many twins and right programs raised an alarm of it.
"""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from gradsan.rules import catalogue  # noqa: E402
from harness import run_code  # noqa: E402

PROGRAMS = ROOT / "tests" / "programs"
MODES = ("adaptive", "deep")
MARK = re.compile(r"# BUG ((?:GS\d{3} ?)+)")
Said = set[tuple[str, int]]
HEAD = """\
# The rules about meaning, counted

<!-- Written by `make meaning`; edit benchmarks/meaning.py. -->

What the 8xx rules say about the programs in tests/programs, in adaptive and in deep mode. A pair is a program with
the bug and the same without it; *found* means: named by this rule, on a line that a person would change, in both
modes. Right programs are those of tests/programs/clean and the repaired twins of these pairs.

| rule | pairs | found | right programs | alarms |
|---|---|---|---|---|
"""


def said(path: Path, mode: str) -> Said:
    with warnings.catch_warnings(), torch.random.fork_rng():
        warnings.simplefilter("ignore")
        report = run_code(path.read_text(encoding="utf-8"), mode, path.stem, may_raise=True)
    torch.set_grad_enabled(True)
    assert not report.faults, report.faults[0]["traceback"]
    return {(f.rule, f.culprit.line) for f in report.findings if f.culprit}


def marks(path: Path) -> Said:
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    found = [(m.group(1).split(), n) for n, line in lines if (m := MARK.search(line))]
    return {(code, n) for codes, n in found for code in codes}


def main() -> None:
    torch.set_num_threads(1)
    codes = [code for code in catalogue() if code.startswith("GS8")]
    bugs = [p for p in sorted(PROGRAMS.glob("bugs/*.py")) if not p.stem.endswith("_fixed")]
    pairs = {p: marks(p) for p in bugs if {code for code, _ in marks(p)} & set(codes)}
    named = {p: [said(p, mode) & wanted for mode in MODES] for p, wanted in pairs.items()}
    right = [*sorted(PROGRAMS.glob("clean/*.py")), *(p.with_stem(f"{p.stem}_fixed") for p in pairs)]
    alarms = [code for p in right for code in {c for mode in MODES for c, _ in said(p, mode)}]
    table = HEAD
    for code in codes:
        own = [p for p, wanted in pairs.items() if code in {c for c, _ in wanted}]
        found = [p for p in own if all(code in {c for c, _ in mode} for mode in named[p])]
        cells = (f"{code} {catalogue()[code].name}", len(own), len(found), len(right), alarms.count(code))
        table += "| " + " | ".join(map(str, cells)) + " |\n"
    (ROOT / "docs" / "meaning.md").write_text(table, encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
