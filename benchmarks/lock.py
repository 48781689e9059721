"""The locks of all programs of tests/programs: is each the same in every run, and has each bug another than its twin?

`make lock-check` writes the table of docs/how-to/lock.md; LOCK="dqn --pairs" picks programs by name, and only pairs."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "lock")]

from flows import changes, flow_of, unstable  # noqa: E402
from same_locks import SAME, UNSTABLE  # noqa: E402

PROGRAMS = ROOT / "tests" / "programs"
PAGE = ROOT / "docs" / "how-to" / "lock.md"
TABLE = re.compile(r"(<!-- table: make lock-check -->\n).*(<!-- end of table -->)", re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--pairs", action="store_true", help="bugs against their twins only")
    parser.add_argument("--every", type=int, default=1, help="try every so manieth for sameness")
    given = parser.parse_args()
    torch.set_num_threads(1)
    found = sorted(PROGRAMS.glob("bugs/*_fixed.py")) + sorted(PROGRAMS.glob("clean/*.py"))
    chosen = [p for p in found if not given.names or any(name in p.stem for name in given.names)]
    counts = {"programs": 0, "unstable": 0, "pairs": 0, "same": 0, "unexplained": 0}
    for number, path in enumerate(chosen):
        check(path, given.pairs or number % given.every > 0, counts)
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    if not given.names:
        write(counts)
    sys.exit(counts["unexplained"] > 0)


def write(counts: dict[str, int]) -> None:
    """What was counted, and the reasons, into the page."""
    pairs, same = counts["pairs"], counts["same"]
    lines = [
        f"Of {pairs} pairs of a bug and its twin, {pairs - same} have different locks. {same} have the same one:\n",
        "| why | bugs |",
        "|---|---|",
    ]
    for reason in dict.fromkeys(SAME.values()):
        names = sorted(name for name, of in SAME.items() if of == reason)
        lines.append(f"| {reason} | {', '.join(name.replace('_', ' ') for name in names)} |")
    lines.append(
        f"\nOf {counts['programs']} right programs that were run once more, in adaptive mode, with other seeds, and "
        f"with all variables renamed and all lines moved, {counts['unstable']} did not have the same lock each time"
        + "".join(f" ({name.replace('_', ' ')}: {why})" for name, why in UNSTABLE.items())
        + "."
    )
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(
        TABLE.sub(lambda found: found[1] + "\n" + "\n".join(lines) + "\n\n" + found[2], text),
        encoding="utf-8",
    )


def check(path: Path, pairs_only: bool, counts: dict[str, int]) -> None:
    code = path.read_text(encoding="utf-8")
    base = flow_of(code)
    if not pairs_only:
        counts["programs"] += 1
        wrong = unstable(code, base)
        counts["unstable"] += bool(wrong)
        for variant, different in wrong.items():
            counts["unexplained"] += path.stem not in UNSTABLE
            print(f"{path.stem}: {variant}: {different}", flush=True)
    bug = path.with_name(path.name.replace("_fixed.py", ".py"))
    if bug != path:
        counts["pairs"] += 1
        if not changes(base, flow_of(bug.read_text(encoding="utf-8"))):
            counts["same"] += 1
            counts["unexplained"] += bug.stem not in SAME
            print(f"{bug.stem}: the same lock as its twin: {SAME.get(bug.stem, '?')}", flush=True)


if __name__ == "__main__":
    main()
