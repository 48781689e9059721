"""The locks of all programs of tests/programs: is each the same in every run, and has each bug another than its twin?

`make lock-check` writes the table of docs/how-to/lock.md when all were run; LOCK="dqn --pairs" picks programs by name,
and only pairs. In slices: LOCK="--keep build/lock.jsonl --at-most 480", as often as it takes."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import torch
from kept import Kept, add_options

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
    add_options(parser)
    given = parser.parse_args()
    torch.set_num_threads(1)
    kept = Kept(given)
    found = sorted(PROGRAMS.glob("bugs/*_fixed.py")) + sorted(PROGRAMS.glob("clean/*.py"))
    chosen = [p for p in found if not given.names or any(name in p.stem for name in given.names)]
    for number, path in enumerate(chosen):
        if kept.is_time_up:
            break
        if path.stem not in kept.results:
            kept.add(path.stem, check(path, given.pairs or number % given.every > 0))
    done = [kept.results[path.stem] for path in chosen if path.stem in kept.results]
    counts = counted(done)
    print(f"{len(done)} of {len(chosen)}:", ", ".join(f"{count} {what}" for what, count in counts.items()))
    if not given.names and len(done) == len(chosen):
        write(counts)
    sys.exit(counts["unexplained"] > 0)


def counted(results: list[dict[str, Any]]) -> dict[str, int]:
    pairs = [r for r in results if r["bug"]]
    tried = [r for r in results if r["unstable"] is not None]
    wrong = sum(bool(r["unstable"]) and r["name"] not in UNSTABLE for r in tried)
    wrong += sum(r["same"] != (r["bug"] in SAME) for r in pairs)
    return {
        "programs": len(tried),
        "unstable": sum(bool(r["unstable"]) for r in tried),
        "pairs": len(pairs),
        "same": sum(r["same"] for r in pairs),
        "unexplained": wrong,
    }


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


def check(path: Path, pairs_only: bool) -> dict[str, Any]:
    """`unstable`: by variant of the program, what its lock says otherwise; None where that was not tried."""
    code = path.read_text(encoding="utf-8")
    base = flow_of(code)
    wrong = None if pairs_only else unstable(code, base)
    for variant, different in (wrong or {}).items():
        print(f"{path.stem}: {variant}: {different}", flush=True)
    bug, same = path.with_name(path.name.replace("_fixed.py", ".py")), False
    if bug != path:
        same = not changes(base, flow_of(bug.read_text(encoding="utf-8")))
        if same != (bug.stem in SAME):
            print(f"{bug.stem}: the lock {'is not' if same else 'is'} another than its twin's", flush=True)
    return {"name": path.stem, "unstable": wrong, "bug": bug.stem if bug != path else "", "same": same}


if __name__ == "__main__":
    main()
