"""Plots of runs, as PNG files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradsan.rl.runs import Row, Run, read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]


# Per label: steps, mean over seeds, and the ends of its interval.
Lines = dict[str, tuple[Floats, Floats, Floats, Floats]]


def canvas() -> tuple[Figure, Axes]:
    figure, (axes,) = grid(1)
    return figure, axes


def grid(count: int) -> tuple[Figure, list[Axes]]:
    """A figure of its own, without pyplot (no window, no global state), with axes in two columns."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = min(count, 2)
    rows = -(-count // columns)
    figure = Figure(figsize=(7 if columns == 1 else 11, 4.2 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    every = [figure.add_subplot(rows, columns, place + 1) for place in range(count)]
    for axes in every:
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlabel("environment steps")
        axes.set_ylabel("return")
    return figure, every


def column(rows: list[Row], name: str) -> tuple[Floats, Floats]:
    """Steps and values where the column is filled."""
    filled = [(row["step"], row[name]) for row in rows if name in row]
    steps, values = zip(*filled, strict=True) if filled else ((), ())
    return np.array(steps, dtype=float), np.array(values, dtype=float)


def plot_curve(run: Run) -> None:
    """Training return, and evaluations with their spread."""
    figure, axes = canvas()
    axes.plot(*column(read_table(run.progress), "return"), color="0.6", label="training, last 100 episodes")
    evaluations = read_table(run.evaluations)
    steps, mean = column(evaluations, "mean")
    if len(steps):
        deviation = column(evaluations, "deviation")[1]
        axes.plot(steps, mean, marker="o", markersize=3, color="C0", label="evaluation, greedy")
        axes.fill_between(steps, mean - deviation, mean + deviation, color="C0", alpha=0.2, linewidth=0)
    axes.set_title(run.folder.name)
    if axes.lines and len(axes.lines[0].get_xdata()):  # type: ignore[arg-type]
        axes.legend(frameon=False)
    figure.savefig(run.curve, dpi=120)


def plot_groups(environments: dict[str, Lines], path: Path, title: str) -> None:
    """One axis per environment. A label has the same colour in all of them."""
    figure, every = grid(len(environments))
    labels = list(dict.fromkeys(label for lines in environments.values() for label in lines))
    for axes, (environment, lines) in zip(every, environments.items(), strict=True):
        for label, (steps, mean, low, high) in lines.items():
            colour: Any = f"C{labels.index(label) % 10}"
            axes.plot(steps, mean, color=colour, label=label, marker="o" if len(steps) == 1 else None)
            axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.set_title(environment, loc="left", fontweight="bold")
        axes.legend(frameon=False, fontsize="small")
    figure.suptitle(title, fontsize="medium")
    figure.savefig(path, dpi=120)
