"""How the rules about meaning do on the programs of tests/programs: `make meaning` writes docs/meaning.md.

For each rule the pairs of a bug and its repaired twin that are marked with it, how many were named on a marked line
in both modes, how many twins and right programs raised an alarm of it. `--minutes 8` stops after a while; the next call
takes up what is in build/meaning.json, as long as neither the package nor the program has changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import time
import warnings
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from gradsan.rules import catalogue  # noqa: E402
from harness import run_code  # noqa: E402

PROGRAMS = ROOT / "tests" / "programs"
KEPT = ROOT / "build" / "meaning.json"
MODES = ("adaptive", "deep")
FORMS = ("GS603", "GS604", "GS605", "GS606")  # about the form of a loss, and as silent as the others
DESIGNS = {
    "unlikelihood, behaviour cloning": "log_probs_pushed_down_on_purpose",
    "DPO": "dpo_of_padded_pairs",
    "GFlowNets": "gflownet_trajectory_balance",
    "maximum entropy, annealed through zero": "entropy_bonus_annealed_through_zero",
    "off-policy corrections, truncated importance weights": "ratios_away_from_one_on_purpose",
    "V-trace": "vtrace_and_entropy",
    "average reward": "average_reward_and_continuing_tasks",
    "differential returns": "differential_returns_over_resets",
    "episodic formulations": "reinforce_in_many_orders",
    "infinite-horizon masks": "infinite_horizon_masks",
    "weighted masks, label smoothing": "masks_and_weights_of_tokens",
}
MARK = re.compile(r"# BUG ((?:GS\d{3} ?)+)")
Said = set[tuple[str, int]]
HEAD = """\
# The rules about meaning, counted

<!-- Written by `make meaning`; edit benchmarks/meaning.py. -->

What these rules say about the programs in tests/programs, in adaptive and in deep mode. A pair is a program with
the bug and the same without it; *found* means: named by this rule, on a line that a person would change, in both
modes. Some lines are marked with two codes, either of which is right: three of GS805's pairs are told as GS806. Right
programs are those of tests/programs/clean and the repaired twins of these pairs.

| rule | pairs | found | right programs | alarms |
|---|---|---|---|---|
"""


class Runs:
    """What was said about each program in each mode, kept between calls."""

    def __init__(self, minutes: float) -> None:
        self.until = time.monotonic() + 60 * minutes
        source = sorted((ROOT / "src").rglob("*.py"))
        self.version = _digest(*source)
        kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
        self.kept: dict[str, list[list[str | int]]] = kept.get(self.version, {})

    def said(self, path: Path, mode: str) -> Said:
        key = f"{path.stem} {mode} {_digest(path)}"
        if key not in self.kept:
            if time.monotonic() > self.until:
                sys.exit("time is up: call again for the rest")
            self.kept[key] = [[rule, line] for rule, line in sorted(run(path, mode))]
            KEPT.parent.mkdir(exist_ok=True)
            KEPT.write_text(json.dumps({self.version: self.kept}), encoding="utf-8")
        return {(str(rule), int(line)) for rule, line in self.kept[key]}


def _digest(*paths: Path) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


def run(path: Path, mode: str) -> Said:
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
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=float("inf"))
    said = Runs(parser.parse_args().minutes).said
    torch.set_num_threads(1)
    codes = [code for code in catalogue() if code.startswith("GS8") or code in FORMS]
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
    table += (
        "\nDesigns that look like a bug of this family and are none, each in a program of its own there:\n\n"
    )
    table += "".join(f"- {design}: `clean/{name}.py`\n" for design, name in DESIGNS.items())
    assert all((PROGRAMS / "clean" / f"{name}.py").exists() for name in DESIGNS.values())
    (ROOT / "docs" / "meaning.md").write_text(table, encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
