"""Page and picture of `make bench-curves`, written to docs/ from the results and from nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import Any

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "curves.jsonl"
DOCS = HERE.parent / "docs"
SIDES = {"gradsan": "C0", "sb3": "C1"}
Row = dict[str, Any]

HEAD = """\
# Robots and games against Stable-Baselines3

Written by `make bench-curves`; do not edit. Both sides have the same hyperparameters, environments, wrappers and
evaluation episodes, on one thread, one after the other. Evaluations are greedy; gradsan's agents play with the
running mean of their weights ([why](rl.md#what-plays)). The sanitizer watched gradsan's side (adaptive) and found
nothing. CPU time is that of the whole run, evaluations included.

The runs are **short**: what some minutes of one core allow, a tenth of a real training and less. They show that the
agents run on these environments, clean under the sanitizer, and that they begin to learn. Of several seeds the mean
is shown, and the lowest and the highest; a few seeds do not show who learns better.
"""


def load() -> list[Row]:
    """The latest result of each task, side and seed."""
    if not RESULTS.is_file():
        return []
    rows = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    return list({(row["task"], row["side"], row["seed"]): row for row in rows}.values())


def write_report() -> None:
    groups: dict[str, list[Row]] = {}
    for row in load():
        groups.setdefault(row["task"], []).append(row)
    lines = [
        "| task | steps | seeds | first and last evaluation | SB3's | CPU seconds | SB3's |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, rows in groups.items():
        mine, other = ([row for row in rows if row["side"] == side] for side in SIDES)
        cells = (
            name,
            f"{rows[0]['steps']:,}",
            str(len(mine)),
            ends(mine),
            ends(other),
            cpu(mine),
            cpu(other),
        )
        lines.append("| " + " | ".join(cells) + " |")
    text = "\n".join([HEAD, *lines, "", "![learning curves](rl-curves.png)", ""])
    (DOCS / "rl-curves.md").write_text(text, encoding="utf-8")
    plot(groups)


def ends(rows: list[Row]) -> str:
    if not rows:
        return "–"
    first, last = ([row["points"][place][1] for row in rows] for place in (0, -1))
    text = f"{mean(first):.1f} → {mean(last):.1f}"
    return text if len(rows) == 1 else f"{text} ({min(last):.1f} … {max(last):.1f})"


def cpu(rows: list[Row]) -> str:
    return f"{sum(row['cpu_seconds'] for row in rows) / len(rows):.0f}" if rows else "–"


def plot(groups: dict[str, list[Row]]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = 4
    height = -(-len(groups) // columns)
    drawn = Figure(figsize=(3 * columns, 2.6 * max(height, 1)), layout="constrained")
    FigureCanvasAgg(drawn)
    for place, (name, rows) in enumerate(groups.items(), start=1):
        axes = drawn.add_subplot(height, columns, place)
        for row in rows:
            steps, means = zip(*row["points"], strict=True)
            axes.plot(steps, means, color=SIDES[row["side"]], label=row["side"], marker=".")
        axes.set_title(name, fontsize=9)
        axes.tick_params(labelsize=7)
        handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        axes.legend(handles.values(), handles.keys(), fontsize=7)
    drawn.savefig(DOCS / "rl-curves.png", dpi=110)
