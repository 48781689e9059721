"""Runs over seeds, side by side: mean of the evaluations with bootstrap intervals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gradsan.rl.algorithms import name_of, to_plain
from gradsan.rl.config import Config, option
from gradsan.rl.errors import CheckpointError
from gradsan.rl.plots import column, plot_groups
from gradsan.rl.runs import Run, read_table

Floats = NDArray[np.float64]
Curve = tuple[Floats, Floats]
RESAMPLES = 2_000
# Options that do not change what is learned.
HARMLESS = {"seed", "steps", "sanitize", "eval_every", "eval_episodes", "checkpoint_every", "device"}


@dataclass(frozen=True)
class Group:
    """Runs that differ in their seed alone (or in options that are not part of the label)."""

    label: str
    steps: Floats
    curves: Floats  # [seeds, steps]
    cautions: tuple[str, ...] = ()

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats, Floats]:
        return bootstrap(self.curves, level)


def bootstrap(samples: Floats, level: float = 0.95, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Mean over the first axis and its percentile interval under resampling with replacement."""
    rng = np.random.default_rng(seed)
    chosen = rng.integers(len(samples), size=(RESAMPLES, len(samples)))
    means = samples[chosen].mean(axis=1)
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(means, [tail, 100 - tail], axis=0)
    return samples.mean(axis=0), low, high


def load_groups(folders: list[Path]) -> list[Group]:
    """By algorithm and environment, over the steps that all seeds of a group have reached."""
    found: dict[str, list[tuple[Config, Curve]]] = {}
    for folder in {folder.resolve(): folder for folder in folders}.values():  # each run once
        run = Run(folder)
        config = run.config()
        curve = column(read_table(run.evaluations), "mean")
        if not len(curve[0]):
            raise CheckpointError(f"{folder} has no evaluation yet: there is nothing to compare.")
        found.setdefault(f"{name_of(config)} {config.env}", []).append((config, curve))
    return [_group(label, [curve for _, curve in runs], _cautions(runs)) for label, runs in found.items()]


def _cautions(runs: list[tuple[Config, Curve]]) -> tuple[str, ...]:
    """What makes runs of a group more than draws of the same lottery."""
    configs = [to_plain(config) for config, _ in runs]
    differing = [name for name in configs[0] if any(one[name] != configs[0][name] for one in configs)]
    unlike = [option(name) for name in differing if name not in HARMLESS]
    seeds = [config["seed"] for config in configs]
    twice = sorted({seed for seed in seeds if seeds.count(seed) > 1})
    return (
        *([f"they differ in {', '.join(unlike)}"] if unlike else []),
        *([f"there is more than one run of seed {', '.join(map(str, twice))}"] if twice else []),
    )


def _group(label: str, curves: list[Curve], cautions: tuple[str, ...]) -> Group:
    # Runs are evaluated at the first update past a mark, so their steps differ by a few: interpolate.
    reached = min(steps[-1] for steps, _ in curves)
    steps = np.unique(np.concatenate([steps[steps <= reached] for steps, _ in curves]))
    rows = [np.interp(steps, own, values) for own, values in curves]
    return Group(label, steps, np.stack(rows), cautions)


def plot(groups: list[Group], path: Path) -> None:
    lines = {f"{group.label} ({len(group.curves)})": (group.steps, *group.interval()) for group in groups}
    plot_groups(lines, path, "mean evaluation return, 95 % bootstrap interval over seeds")
