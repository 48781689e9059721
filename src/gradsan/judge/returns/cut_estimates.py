"""Generalised advantages and λ-returns at the ends of episodes: do they take a next value where one was only cut off?

Within an episode each is `reward + γ(1-λ)·next value + γλ·next return`; what is left at its last step tells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gradsan.judge.flow import SHAPING, TAKEN_OUT
from gradsan.judge.history import History
from gradsan.judge.objective.weighed import DIFFERENCES, Met, entries, met_in, origin
from gradsan.judge.returns.numpy_targets import successors
from gradsan.judge.returns.return_laws import Law, ReturnRow, Series
from gradsan.record.events import Backward, Op, Site

LEAST = 0.01  # share of the next value: below, it may be rounding


@dataclass(slots=True)
class Estimate:
    """The targets of one batch, and at how many truncated steps they take a next value, or none."""

    met: Met
    site: Site
    taken: int
    left_out: int


def estimates_in(history: History, event: Backward) -> Iterator[Estimate]:
    for met in met_in(history, event):
        if met.op.name not in DIFFERENCES or met.constant is None:
            continue
        if not (known := _led_to(history, met, met.constant)):
            continue
        series = Series(entries(history, met))
        law = _law(series) if series.is_large_enough() else None
        if law is None:
            continue
        cut = [e for e in series.entries.values() if _could_go_on(e, known)]
        left_out = sum(abs(e.number - _own(law, e)) <= series.tolerance for e in cut)
        yield Estimate(met, _line_of(history, met.constant), len(cut) - left_out, left_out)


def _led_to(history: History, met: Met, target: Op) -> set[tuple[int, int]]:
    """The steps the value of whose very outcome was asked for. Where the next row of a rollout stands for it, an
    episode that was cut off has none, and to stop there is right."""
    rows = history.experience.rows_behind(met.live, len(met.numbers))
    if rows is None or not history.experience.successors:
        return set()
    after = successors(history, target, rows)
    both = zip(rows, after, strict=False)
    return {(row.stream, row.step) for row, following in both if row is not None and following == row}


def _could_go_on(entry: ReturnRow, known: set[tuple[int, int]]) -> bool:
    step = entry.transition
    return step.end == "truncated" and (step.stream, step.step) in known


def _law(series: Series) -> Law | None:
    """That of a return which takes a share of every next value. A plain sum of rewards takes none anywhere."""
    if any(e.prediction is None for e in series.entries.values()) or not series.varied_rewards:
        return None
    if series.backward_law(with_predictions=False).exact:
        return None
    law = series.backward_law(with_predictions=True)
    shares = law.next > LEAST and law.value > LEAST and law.next + law.value < 1.0 + 1e-4
    is_plain = law.reward > 0.0 and abs(law.constant) <= series.tolerance
    return law if law.exact and shares and is_plain else None


def _own(law: Law, entry: ReturnRow) -> float:
    return law.reward * entry.transition.reward + law.constant


def _line_of(history: History, target: Op) -> Site:
    """Where the rewards and the next values are added, if that is one line."""
    graph, sites = history.graph, set[Site]()
    for op in graph.ancestors([target.nid]).values():
        sides = [s for s in graph.inputs(op) if s.floating]
        if op.name == "add" and len(sides) == 2 and op.site:
            learned = [bool(graph.value_params([s.nid])) for s in sides]
            if sum(learned) == 1 and _arrived(history, sides[learned.index(False)]):
                sites.add(op.site)
    return sites.pop() if len(sites) == 1 else origin(history, target)


def _arrived(history: History, op: Op) -> bool:
    """Whether it came from outside, and was not computed from anything."""
    graph = history.graph
    while op.name in SHAPING | TAKEN_OUT | {"getitem", "select", "unbind", "alias", "as_tensor", "tensor"}:
        source = next((s for s in graph.inputs(op) if s.floating), None)
        if source is None:
            break
        op = source
    return not any(s.floating for s in graph.inputs(op))
