"""Table and plots of `make bench-rl`, written to docs/ from the results and from nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from rl_tasks import AT_LEAST, TASKS, Task

from gradsan.rl.comparing import bootstrap

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "rl.jsonl"
DOCS = HERE.parent / "docs"

Row = dict[str, Any]


def load() -> list[Row]:
    """The latest result of each task and seed."""
    if not RESULTS.is_file():
        return []
    rows = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    return list({(row["task"], row["seed"]): row for row in rows}.values())


def returns(rows: list[Row], side: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Mean return of each seed."""
    return np.array([np.mean(row[side]["returns"]) for row in rows])


def speeds(rows: list[Row]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Times as many steps per second, for each seed."""
    rate = {
        side: np.array([row[side]["steps"] / row[side]["seconds"] for row in rows])
        for side in ("gradsan", "sb3")
    }
    return rate["gradsan"] / rate["sb3"]


def reached(task: Task, ours: Any, theirs: Any) -> bool:
    if task.goal == AT_LEAST:
        return bool(ours.mean() >= theirs.mean())
    if task.env == "CartPole-v1":
        return bool((ours >= 500).all())
    return bool(ours.mean() >= -180)


def table(groups: dict[str, list[Row]]) -> list[str]:
    lines = [
        "| task | seeds | speed against SB3 | bar | return | SB3's return | bar |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, rows in groups.items():
        task, speed = TASKS[name], speeds(rows)
        ours, theirs = returns(rows, "gradsan"), returns(rows, "sb3")
        quick = "reached" if np.median(speed) >= task.speed else "missed"
        good = "reached" if reached(task, ours, theirs) else "missed"
        label = f"{task.algorithm.upper()} {task.env}, {task.steps:,} steps"
        lines.append(
            f"| {label} | {len(rows)} | {np.median(speed):.2f} × | ≥ {task.speed} ×: {quick} "
            f"| {interval(ours)} | {interval(theirs)} | {task.goal}: {good} |"
        )
    return lines


def interval(values: Any) -> str:
    mean, low, high = bootstrap(values[:, None])
    return f"{mean[0]:.1f} ({low[0]:.1f} … {high[0]:.1f})"


def write_report() -> None:
    groups = {name: [row for row in load() if row["task"] == name] for name in TASKS}
    missing = [name for name, rows in groups.items() if not rows]
    groups = {name: rows for name, rows in groups.items() if rows}
    modes = sorted({row["gradsan"]["sanitizer"] for rows in groups.values() for row in rows})
    text = [
        "# Reference agents against Stable-Baselines3",
        "",
        "Written by `make bench-rl`; do not edit. Both sides train with the same hyperparameters, on one",
        "thread, in alternating turns on the same machine. Speed is the median over seeds of environment",
        "steps per second, gradsan's over Stable-Baselines3's; evaluation is not timed. Returns are means",
        "over seeds of 100 greedy episodes after training, from the same starting states on both sides, with",
        "a 95 % bootstrap interval. No choice was made on these seeds: hyperparameters and what plays were",
        "settled on others. gradsan's agents play with the running mean of their weights",
        "([why](rl.md#what-plays)), its DQN takes the squared loss on CartPole, and its PPO has",
        "[advantages](rl.md#advantages-of-ppo) of its own where a rollout is many batches (Acrobot);",
        "Stable-Baselines3 has no such choices.",
        "",
        *table(groups),
        "",
        f"Sanitizer of gradsan's side: {', '.join(modes) or '–'}.",
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
    plot_returns(groups)


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
