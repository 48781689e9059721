"""Trains strangers' algorithms bare, under `--mode deep` and under the default mode, and compares.

`python run.py [--only TEXT] [--page FILE]`, in the environment that `make third-party` builds. What earlier
runs with another `--only` found stays in the table.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import table
from forkserver import python

HERE = Path(__file__).resolve().parent
LIBRARIES = {
    "with_sb3.py": ("stable_baselines3", "sb3_contrib"),
    "with_d3rlpy.py": ("d3rlpy",),
    "with_pfrl.py": ("pfrl",),
}
RESULTS = HERE / "results" / "strangers.json"
MODES = {"deep": ("--mode", "deep"), "default": ()}


@dataclass
class Row:
    """One program: what training gave without gradsan, and what gradsan said and did, per mode."""

    library: str
    program: str
    updates: int = 0
    error: str = ""
    seconds: float = 0.0
    findings: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    faults: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    same: dict[str, bool] = field(default_factory=dict)
    slowdown: dict[str, float] = field(default_factory=dict)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="programs whose library or name contains this")
    parser.add_argument("--page", type=Path, help="write the table to this file, too")
    options = parser.parse_args()
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(RESULTS.read_text())["rows"] if options.only and RESULTS.exists() else []
    rows = {(row["library"], row["program"]): row for row in known}
    versions = {name: version(name) for name in ("torch", "gymnasium", *sum(LIBRARIES.values(), ()))}
    for script, packages in LIBRARIES.items():
        for name in python(script, cwd=HERE).stdout.splitlines():
            if options.only.lower() in f"{script} {name}".lower():
                row = asdict(compare(script, packages, name))
                print(table.line(row), flush=True)
                rows[row["library"], name] = row
                RESULTS.write_text(json.dumps({"versions": versions, "rows": list(rows.values())}, indent=1))
    page = table.render(versions, list(rows.values()))
    if options.page:
        options.page.write_text(page)
    print(page)
    return int(any(table.is_bad(row) for row in rows.values()))


def compare(script: str, packages: tuple[str, ...], name: str) -> Row:
    row = Row(script.removeprefix("with_").removesuffix(".py"), name)
    result = RESULTS.with_name("program.json")
    bare = train(script, name, result)
    if isinstance(bare, str):
        row.error = bare
        return row
    row.updates, row.seconds = bare["updates"], bare["seconds"]
    include = [word for package in packages for word in ("--include", package)]
    for mode, flags in MODES.items():
        report = RESULTS.with_name("report.json")
        gradsan = ["gradsan", "run", *flags, *include, "--quiet", "--fail-on", "never"]
        seen = train(script, name, result, [*gradsan, "--format", "json", "--output", str(report)])
        if isinstance(seen, str):
            row.error = f"{mode}: {seen}"
            continue
        said = json.loads(report.read_text())
        row.findings[mode], row.faults[mode] = said["findings"], said["faults"]
        row.same[mode] = all(bare[key] == seen[key] for key in ("updates", "weights", "random"))
        row.slowdown[mode] = round(seen["seconds"] / bare["seconds"], 2)
    return row


def train(script: str, name: str, result: Path, through: list[str] | None = None) -> dict[str, Any] | str:
    """What the program found, or why there is nothing."""
    result.unlink(missing_ok=True)
    done = python(*(through or ()), script, name, str(result.resolve()), cwd=HERE)
    if done.status or not result.exists():
        return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"status {done.status}"
    return dict(json.loads(result.read_text()))


if __name__ == "__main__":
    sys.exit(main())
