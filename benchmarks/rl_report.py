"""Table and plots of `make bench-rl`, written to docs/ from the results and from nothing else."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from rl_tasks import TASKS

from gradsan.rl.comparing import bootstrap

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "rl.jsonl"
DOCS = HERE.parent / "docs"

Row = dict[str, Any]
WARM_UP = 0.2  # of the steps
FEWEST = 6  # seeds: of fewer, all lie on one side by chance more than once in twenty

HEAD = """\
Written by `make bench-rl`; do not edit. Both sides train with the same hyperparameters, on one thread, in
alternating turns on the same machine. Speed is environment steps per second of processor time, gradsan's over
Stable-Baselines3's, as the mean over runs; evaluation and importing are not timed. Some runs are a share of the
training (`--share`), for speed alone, and without its first fifth, where the sanitizer traces most; seeds were
trained to the end. Returns are means over seeds of 100 greedy episodes after training, from the same starting
states on both sides. Brackets are 95 % bootstrap intervals; what lies inside them is called a tie, and so is a
difference of returns over fewer than six seeds: two of equals are both on one side every second time, five once in
sixteen. gradsan's agents play with the running mean of their weights ([why](rl.md#what-plays)), and its DQN takes
the squared loss on CartPole; Stable-Baselines3 has no such choices.
"""


def timed_imports(rows: list[Row]) -> list[str]:
    """Runs from before the sanitizer's import was taken out of the time; what is dropped as warm-up does not count."""
    affected = Counter(row["task"] for row in whole(rows) if row.get("import_timed"))
    if not affected:
        return []
    runs = ", ".join(f"{count} of {task}" for task, count in affected.items())
    return [f"Runs in which the import of the sanitizer is timed all the same: {runs}."]


def load() -> list[Row]:
    """The latest result of each task, seed and share of the steps."""
    if not RESULTS.is_file():
        return []
    rows = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    return list({(row["task"], row["seed"], row["share"]): row for row in rows}.values())


def whole(rows: list[Row]) -> list[Row]:
    """Trainings to the end: only they have returns."""
    return [row for row in rows if row["share"] == 1]


def returns(rows: list[Row], side: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Mean return of each seed."""
    return np.array([np.mean(row[side]["returns"]) for row in rows])


def speeds(rows: list[Row]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Times as many steps per second of the processor, for each run."""
    return np.array([rate(row, "gradsan") / rate(row, "sb3") for row in rows])


def rate(row: Row, side: str) -> float:
    """Of a part of the training without its first fifth: what is paid once weighs too much there."""
    result = row[side]
    begin = WARM_UP * result["steps"] if row["share"] < 1 else 0
    step, at = next(mark for mark in [(0, 0.0), *result["marks"]] if mark[0] >= begin)
    return float((result["steps"] - step) / (result["seconds"] - at))


def against_bar(speed: Any, bar: float) -> str:
    """A bar inside the interval is neither reached nor missed."""
    if len(speed) < 2:
        return "one run"
    _, low, high = bootstrap(speed[:, None])
    return "reached" if low[0] >= bar else "missed" if high[0] < bar else "tie"


def against_theirs(ours: Any, theirs: Any) -> str:
    """By the difference of the same seeds."""
    if len(ours) < 2:
        return "one seed" if len(ours) else "–"
    if len(ours) < FEWEST:
        return "tie"
    _, low, high = bootstrap((ours - theirs)[:, None])
    return "higher" if low[0] > 0 else "lower" if high[0] < 0 else "tie"


def table(groups: dict[str, list[Row]]) -> list[str]:
    lines = [
        "| task | runs | speed against SB3 | bar | seeds | return | SB3's return | ours is |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, rows in groups.items():
        task, speed, full = TASKS[name], speeds(rows), whole(rows)
        ours, theirs = returns(full, "gradsan"), returns(full, "sb3")
        label = f"{task.algorithm.upper()} {task.env}, {task.steps:,} steps"
        played = (interval(ours), interval(theirs)) if full else ("–", "–")
        cells = (
            *(label, str(len(rows)), f"{interval(speed, 2)} ×"),
            *(f"≥ {task.speed} ×: {against_bar(speed, task.speed)}", str(len(full)), *played),
            against_theirs(ours, theirs),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def interval(values: Any, digits: int = 1) -> str:
    mean, low, high = (value[0] for value in bootstrap(values[:, None]))
    if len(values) < 2:
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ({low:.{digits}f} … {high:.{digits}f})"


def write_report() -> None:
    groups = {name: [row for row in load() if row["task"] == name] for name in TASKS}
    missing = [name for name, rows in groups.items() if not rows]
    groups = {name: rows for name, rows in groups.items() if rows}
    modes = sorted({row["gradsan"]["sanitizer"] for rows in groups.values() for row in rows})
    text = [
        "# Reference agents against Stable-Baselines3",
        "",
        HEAD,
        *table(groups),
        "",
        f"Sanitizer of gradsan's side: {', '.join(modes) or '–'}.",
        *timed_imports([row for rows in groups.values() for row in rows]),
        *(["Not measured: " + ", ".join(missing) + "."] if missing else []),
        "",
        "![speed](rl-bench-speed.png)",
        "",
        "![returns](rl-bench-returns.png)",
        "",
    ]
    DOCS.mkdir(exist_ok=True)
    (DOCS / "rl-bench.md").write_text("\n".join(text), encoding="utf-8")
    plot_speed(groups)
    plot_returns({name: whole(rows) for name, rows in groups.items() if whole(rows)})


def figure(count: int, height: float) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(1.6 * max(count, 4), height), layout="constrained")
    FigureCanvasAgg(drawn)
    return drawn


def plot_speed(groups: dict[str, list[Row]]) -> None:
    drawn = figure(len(groups), 3.6)
    axes = drawn.add_subplot()
    for place, (name, rows) in enumerate(groups.items()):
        axes.plot([place] * len(rows), speeds(rows), "o", color="C0", alpha=0.6)
        axes.hlines(TASKS[name].speed, place - 0.3, place + 0.3, color="C3")
    axes.axhline(1, color="0.5", linewidth=1)
    axes.set_xticks(range(len(groups)), [name.replace("-", "\n") for name in groups])
    axes.set_ylim(bottom=0)
    axes.set_ylabel("× the speed of SB3 (red: bar)")
    drawn.savefig(DOCS / "rl-bench-speed.png", dpi=110)


def plot_returns(groups: dict[str, list[Row]]) -> None:
    drawn = figure(len(groups), 3.2)
    for place, (name, rows) in enumerate(groups.items(), start=1):
        axes = drawn.add_subplot(1, len(groups), place)
        for side, column, colour in (("gradsan", 0, "C0"), ("sb3", 1, "C1")):
            values = returns(rows, side)
            axes.plot([column] * len(values), values, "o", color=colour, alpha=0.6)
            axes.hlines(values.mean(), column - 0.25, column + 0.25, color=colour)
        axes.set_xticks([0, 1], ["gradsan", "SB3"])
        axes.set_xlim(-0.6, 1.6)
        axes.set_title(name, fontsize=9)
    drawn.savefig(DOCS / "rl-bench-returns.png", dpi=110)
