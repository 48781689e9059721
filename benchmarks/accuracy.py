"""How many real bugs are named, and how many repaired scripts stay silent.

    make accuracy CORPUS=path/to/corpus

The corpus is a folder with `index.json`, a list of `{"name", "codes", "culprit_lines", "also_fine"}`, and for
each name a script `NAME.py` and its repaired twin `NAME_fixed.py`. Every script runs under the real command
line. A bug counts as found when a finding has one of its codes and its culprit on a marked line; a twin counts
as silent when there is no finding at all.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

MODES = ("deep", "adaptive")


def findings(script: Path, mode: str) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [
            sys.executable,
            "-m",
            "gradsan",
            "run",
            "--mode",
            mode,
            "--format",
            "json",
            "--fail-on",
            "never",
        ]
        subprocess.run([*command, "--output", str(report), str(script)], capture_output=True, check=False)
        found: list[dict[str, Any]] = json.loads(report.read_text())["findings"]
        return found


def judge(corpus: Path, case: dict[str, Any], mode: str) -> tuple[str, str]:
    """("found" | "code only" | "missed", "silent" | the codes that were raised on the repaired twin)."""
    right = [f for f in findings(corpus / f"{case['name']}.py", mode) if f["rule"] in case["codes"]]
    on_line = [f for f in right if f["culprit"] and f["culprit"]["line"] in case["culprit_lines"]]
    noise = findings(corpus / f"{case['name']}_fixed.py", mode)
    verdict = "found" if on_line else "code only" if right else "missed"
    return verdict, " ".join(sorted({f["rule"] for f in noise})) or "silent"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    arguments = parser.parse_args()
    index = arguments.corpus / "index.json"
    if not index.is_file():
        parser.error(f"{index} does not exist: give the folder of a corpus, as in `make accuracy CORPUS=…`")
    cases = json.loads(index.read_text())
    jobs = [(case, mode) for case in cases for mode in MODES]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda job: judge(arguments.corpus, *job), jobs))
    table = Table("bug", "codes", *(f"{mode}: {what}" for mode in MODES for what in ("bug", "twin")))
    for i, case in enumerate(cases):
        row = [cell for result in results[i * len(MODES) : (i + 1) * len(MODES)] for cell in result]
        table.add_row(case["name"], " ".join(case["codes"]), *row)
    Console().print(table)
    perfect = True
    for n, mode in enumerate(MODES):
        mine = results[n :: len(MODES)]
        found, silent = sum(v == "found" for v, _ in mine), sum(t == "silent" for _, t in mine)
        perfect = perfect and found == silent == len(cases)
        print(
            f"{mode}: {found} of {len(cases)} bugs named on a marked line, {silent} of {len(cases)} twins silent"
        )
    return 0 if perfect else 1


if __name__ == "__main__":
    sys.exit(main())
