"""Magnitudes over iterations, thinned to what a screen can show."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from gradsan.judge.report.wording import module_of
from gradsan.picture.model import Chart
from gradsan.record.events import OptimizerId, ParamId, Sample, Site

POINTS = 500
LAYERS = 64  # in all charts together; the largest first
WINDOW = 20  # steps that a share is taken over

T = TypeVar("T")
Series = dict[str, dict[int, float]]


@dataclass(slots=True)
class Thinned(Generic[T]):
    """Keeps at most twice POINTS entries, evenly spread over all that came, however many."""

    items: list[T] = field(default_factory=list)
    _stride: int = 1
    _seen: int = 0

    def add(self, item: T) -> None:
        if self._seen % self._stride == 0:
            self.items.append(item)
        self._seen += 1
        if len(self.items) >= 2 * POINTS:
            del self.items[1::2]
            self._stride *= 2


def charts(
    samples: list[Sample],
    losses: list[tuple[Site, int, float]],
    name_of: Callable[[ParamId], str],
    network_of: Callable[[ParamId], str],
    optimizer_name: Callable[[OptimizerId], str],
    loss_name: Callable[[Site], str],
) -> list[Chart]:
    norms, ratios, layers, clipped = _magnitudes(samples, name_of, network_of, optimizer_name)
    values: Series = {}
    for site, iteration, value in losses:
        values.setdefault(loss_name(site), {})[iteration] = value
    for sample in samples:
        for site, value in sample.losses:
            values.setdefault(loss_name(site), {})[sample.iteration + 1] = value
    drawn = [
        chart("Gradient norm", "norm", norms, log=True),
        *(
            chart("Gradient norm by layer", "norm", of, log=True, group=network)
            for network, of in _largest(layers).items()
            if len(of) > 1
        ),
        chart("Update-to-weight ratio", "ratio", ratios, log=True),
        chart("Share of updates clipped", "share", {k: _shares(v) for k, v in clipped.items()}),
        chart("Loss", "loss", values),
    ]
    return [c for c in drawn if c.series]


def _magnitudes(
    samples: list[Sample],
    name_of: Callable[[ParamId], str],
    network_of: Callable[[ParamId], str],
    optimizer_name: Callable[[OptimizerId], str],
) -> tuple[Series, Series, dict[str, Series], Series]:
    squares: Series = {}
    updates: Series = {}
    weights: Series = {}
    layers: dict[str, Series] = {}
    clipped: Series = {}
    for sample in samples:
        at = sample.iteration + 1  # of those that were over then
        for pid, gradient, weight, update in sample.norms:
            network, name = network_of(pid), name_of(pid)
            layer = layers.setdefault(network, {}).setdefault(module_of(name) or name, {})
            _add_square(squares, network, at, gradient)
            if update >= 0:  # else nobody looked
                _add_square(weights, network, at, weight)
                _add_square(updates, network, at, update)
            layer[at] = math.hypot(layer.get(at, 0.0), gradient)
        if sample.clipped:
            clipped.setdefault(optimizer_name(sample.oid), {})[at] = float(sample.clipped > 1.0)
    norms = {k: {i: math.sqrt(v) for i, v in s.items()} for k, s in squares.items()}
    ratios = {
        k: {i: math.sqrt(v / weights[k][i]) for i, v in s.items() if weights[k][i] > 0}
        for k, s in updates.items()
    }
    return norms, ratios, layers, clipped


def _add_square(series: Series, name: str, at: int, value: float) -> None:
    of = series.setdefault(name, {})
    of[at] = of.get(at, 0.0) + value * value


def _largest(layers: dict[str, Series]) -> dict[str, Series]:
    ranked = sorted(
        ((max(of.values(), default=0.0), network, name) for network, s in layers.items() for name, of in s.items()),
        reverse=True,
    )[:LAYERS]  # fmt: skip
    chosen = {(network, name) for _, network, name in ranked}
    return {n: {k: of for k, of in s.items() if (n, k) in chosen} for n, s in layers.items()}


def _shares(flags: dict[int, float]) -> dict[int, float]:
    found: dict[int, float] = {}
    recent: list[float] = []
    for at in sorted(flags):
        recent = [*recent[1 - WINDOW :], flags[at]]
        found[at] = sum(recent) / len(recent)
    return found


def chart(title: str, unit: str, series: Series, log: bool = False, group: str = "") -> Chart:
    x = sorted({at for of in series.values() for at in of})
    step = -(-len(x) // (2 * POINTS)) or 1
    x = sorted({*x[::step], *x[-1:]})
    values = {name: [_short(of.get(at), log) for at in x] for name, of in series.items()}
    return Chart(
        title, unit, x, {k: v for k, v in values.items() if any(y is not None for y in v)}, log, group
    )


def _short(value: float | None, log: bool) -> float | None:
    """Four digits are more than a screen can show; what cannot be drawn is a gap."""
    if value is None or not math.isfinite(value) or (log and value <= 0.0):
        return None
    return float(f"{value:.4g}")
