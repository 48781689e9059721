"""The comparison as a table: a line while it runs, and a page for the documentation."""

from __future__ import annotations

from collections import Counter
from typing import Any

MODES = ("deep", "default")
TITLE = """# Strangers' code

Written by `make third-party`. Every program is a published algorithm of a library that nobody here wrote, trained
on the CPU three times with the same seed: bare, under `gradsan run --mode deep`, and under the default mode, each
with `--include` for the library. *Same weights* means the same bits of every parameter and buffer at the end, the
same number of updates and the same random state. *Slowdown* is processor time of the training, the environment's
share included, measured once: neighbours on the machine make it vary by a fifth. Every program makes 200 updates
(steps of an optimizer) or more, but ARS, which has no gradient and no optimizer. What the findings are:
[found in the wild](found-in-the-wild.md)."""
HEAD = (
    "| library | program | updates | findings, deep | findings, default | same weights | slowdown, deep "
    "| slowdown, default |\n|---|---|---|---|---|---|---|---|"
)


def line(row: dict[str, Any]) -> str:
    if row["error"]:
        return f"| {row['library']} | {row['program']} | – | did not run: {row['error']} | | | | |"
    said = [findings(row, mode) for mode in MODES]
    same = "yes" if all(row["same"].values()) else "**no**"
    slow = [f"{row['slowdown'][mode]:.1f}×" for mode in MODES]
    return "| " + " | ".join([row["library"], row["program"], str(row["updates"]), *said, same, *slow]) + " |"


def findings(row: dict[str, Any], mode: str) -> str:
    counts = Counter(f["rule"] for f in row["findings"][mode])
    words = [rule if n == 1 else f"{rule} ({n} lines)" for rule, n in sorted(counts.items())]
    words += [f"{len(row['faults'][mode])} faults"] if row["faults"][mode] else []
    return ", ".join(words) or "none"


def is_bad(row: dict[str, Any]) -> bool:
    """What no program may show: an error of its own making, other weights, a fault inside gradsan."""
    return bool(row["error"] or any(row["faults"].values()) or not all(row["same"].values()))


def render(versions: dict[str, str], rows: list[dict[str, Any]]) -> str:
    pins = ", ".join(f"{name} {number}" for name, number in versions.items())
    ran = [row for row in rows if not row["error"]]
    clean = sum(all(findings(row, mode) == "none" for mode in MODES) for row in ran)
    same = sum(all(row["same"].values()) for row in ran)
    summary = f"{len(rows)} programs; {clean} without a finding, {same} with the same weights bit for bit."
    return "\n".join([TITLE, "", pins + ".", "", summary, "", HEAD, *map(line, rows), ""])
