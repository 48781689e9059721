"""Runs over seeds, side by side: mean of the evaluations with bootstrap intervals."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsan.rl.algorithms import name_of, to_plain
from gradsan.rl.config import option
from gradsan.rl.errors import CheckpointError, ConfigError
from gradsan.rl.plots import Lines, column, plot_groups
from gradsan.rl.runs import Run, read_table

Floats = NDArray[np.float64]
Curve = tuple[Floats, Floats]
RESAMPLES = 2_000
# Options that do not change what is learned. The number of steps does: schedules follow it.
HARMLESS = {
    *("seed", "sanitize", "device", "vectorization"),
    *("eval_every", "eval_episodes", "checkpoint_every"),
}
Options = dict[str, Any]


@dataclass(frozen=True)
class CurveGroup:
    """Runs that differ in their seed alone, or in what the person who asked wanted to see together."""

    env: str
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


def load_groups(folders: list[Path], by: Sequence[str] = ()) -> list[CurveGroup]:
    """One group for each algorithm, environment and choice of options that change what is learned; with `by`, of
    those options only. Over the steps that all seeds of a group have reached."""
    runs = [
        _load(folder) for folder in {folder.resolve(): folder for folder in folders}.values()
    ]  # each once
    names = _named(by, runs)
    groups: list[CurveGroup] = []
    for (env, algorithm), own in _split(runs, ["env", "algorithm"]).items():
        deciding = [name for name in names if name in own[0][0]] if by else _differing(own)
        shown = [name for name in deciding if name not in ("env", "algorithm")]
        for values, members in _split(own, shown).items():
            words = [f"{option(name)[2:]}={value}" for name, value in zip(shown, values, strict=True)]
            label = " ".join((algorithm, *words))
            groups.append(_group(env, label, [curve for _, curve in members], _cautions(members)))
    return groups


def _load(folder: Path) -> tuple[Options, Curve]:
    run = Run(folder)
    config = run.config()
    curve = column(read_table(run.evaluations), "mean")
    if not len(curve[0]):
        raise CheckpointError(f"{folder} has no evaluation yet: there is nothing to compare.")
    return {"algorithm": name_of(config), **to_plain(config)}, curve


def _named(by: Sequence[str], runs: list[tuple[Options, Curve]]) -> list[str]:
    """As they are called in a configuration, however they were written."""
    known = {name for options, _ in runs for name in options}
    names = [name.removeprefix("--").replace("-", "_") for name in by]
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            advice = f": did you mean {option(close[0])[2:]}?" if close else "."
            raise ConfigError(f"These runs have no option {name!r}{advice}")
    return names


def _split(runs: list[tuple[Options, Curve]], names: list[str]) -> dict[tuple[Any, ...], list[Any]]:
    """By the values of these options, in the order in which they are met."""
    found: dict[tuple[Any, ...], list[Any]] = {}
    for options, curve in runs:
        values = tuple(_written(options[name]) if name != "env" else options[name] for name in names)
        found.setdefault(values, []).append((options, curve))
    return found


def _written(value: Any) -> str:
    return "×".join(map(str, value)) if isinstance(value, list) else str(value)


def _differing(runs: list[tuple[Options, Curve]]) -> list[str]:
    """Options that change what is learned and are not the same in all runs."""
    first = runs[0][0]
    unlike = [name for name in first if any(options[name] != first[name] for options, _ in runs)]
    return [name for name in unlike if name not in HARMLESS]


def _cautions(runs: list[tuple[Options, Curve]]) -> tuple[str, ...]:
    """What makes runs of a group more than draws of the same lottery."""
    mixed = [option(name) for name in _differing(runs)]
    seeds = [options["seed"] for options, _ in runs]
    twice = sorted({seed for seed in seeds if seeds.count(seed) > 1})
    return (
        *([f"its runs differ in {', '.join(mixed)}"] if mixed else []),
        *([f"there is more than one run of seed {', '.join(map(str, twice))}"] if twice else []),
    )


def _group(env: str, label: str, curves: list[Curve], cautions: tuple[str, ...]) -> CurveGroup:
    # Runs are evaluated at the first update past a mark, so their steps differ by a few: interpolate.
    reached = min(steps[-1] for steps, _ in curves)
    steps = np.unique(np.concatenate([steps[steps <= reached] for steps, _ in curves]))
    rows = [np.interp(steps, own, values) for own, values in curves]
    return CurveGroup(env, label, steps, np.stack(rows), cautions)


def plot(groups: list[CurveGroup], path: Path) -> None:
    """One axis per environment: returns of two environments have nothing to do with each other."""
    axes: dict[str, Lines] = {}
    for group in groups:
        label = f"{group.label} ({_seeds(len(group.curves))})"
        axes.setdefault(group.env, {})[label] = (group.steps, *group.interval())
    plot_groups(axes, path, "mean evaluation return, 95 % bootstrap interval over seeds")


def _seeds(count: int) -> str:
    return f"{count} seeds" if count > 1 else "1 seed"
