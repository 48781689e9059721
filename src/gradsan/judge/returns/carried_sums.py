"""Sums that a loop carries from step to step, as the graph shows them: put together from a list, or written into a
buffer one after the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise, takewhile
from typing import NamedTuple

from gradsan.judge.history import History
from gradsan.judge.provenance import Provenance
from gradsan.judge.returns.rollout_order import ARITHMETIC, FEWEST_STEPS, TOGETHER, reckoned_with
from gradsan.record.events import Backward, Op, Site, ValueId

MOST_STEPS = 128  # that are looked at
Place = ValueId | tuple[ValueId, int]  # a value, or what lies somewhere in one


class CarriedStep(NamedTuple):
    """`now` is reckoned with `carried`, which comes from the step after it; `given`: what else it is reckoned with,
    and `given_after`: what the step after it is."""

    now: Op
    carried: Op
    given: dict[Place, Op]
    given_after: dict[Place, Op]


class CarriedSum(NamedTuple):
    """`joined` holds all of it; `steps`: those but the last, in the order of time, and `last`."""

    joined: Op
    steps: list[CarriedStep]
    last: Op


def carried_sums(history: History, event: Backward) -> list[CarriedSum]:
    """Asked for by several rules."""
    graph, roots = history.graph, tuple(root.nid for root in event.roots)
    key = ("carried sums", roots)
    if key not in graph.remembered:
        graph.remembered[key] = list(_sums(graph, graph.ancestors(roots)))
    found: list[CarriedSum] = graph.remembered[key]
    return found


def _sums(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[CarriedSum]:
    for joined, parts in ((joined, parts[:MOST_STEPS]) for joined, parts in _series(graph, within)):
        carried = (_carried(graph, now, after) for now, after in pairwise(parts))
        known = [op for op in takewhile(lambda op: op is not None, carried) if op is not None]
        if len(known) < len(parts) - 1 or len({(op.name, op.site) for op in known}) != 1:
            continue
        stops = [*(frozenset({op.nid}) for op in known), frozenset[ValueId]()]
        given = [_given(graph, part, stop) for part, stop in zip(parts, stops, strict=True)]
        steps = zip(parts, known, pairwise(given), strict=False)
        yield CarriedSum(joined, [CarriedStep(now, op, *both) for now, op, both in steps], parts[-1])


def _series(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[tuple[Op, list[Op]]]:
    for joined in graph.named(within, TOGETHER):
        parts = list(graph.inputs(joined)) if joined.facts.axes == (0,) else []
        if len(parts) >= FEWEST_STEPS and len(parts) == len(joined.inputs) and not any(p.live for p in parts):
            yield joined, parts
    lines: dict[Site, list[Op]] = defaultdict(list)
    for write in graph.named(within, ("setitem",)):
        lines[write.site].append(write)
    for writes in lines.values():
        values = [list(graph.inputs(write)) for write in writes]
        if _run_with_time(writes):
            continue
        if len(writes) >= FEWEST_STEPS and all(len(v) == 2 and not v[1].live for v in values):
            newest = sorted((v[1] for v in values), key=lambda op: -op.nid)
            yield max(writes, key=lambda op: op.nid), newest


def _run_with_time(writes: list[Op]) -> bool:
    """Whether the places say that the loop runs forwards: then what it carries comes from the step before."""
    first, last = (end(writes, key=lambda op: op.nid).facts.place for end in (min, max))
    return bool(first and last) and first < last


def _carried(graph: Provenance, now: Op, after: Op) -> Op | None:
    """The newest that both are reckoned with, or the step after itself."""
    theirs = {after.nid, *(op.nid for op in reckoned_with(graph, after)[0])}
    mine = (op for op in reckoned_with(graph, now)[0] if op.name in ARITHMETIC)
    return max((op for op in mine if op.nid in theirs), key=lambda op: op.nid, default=None)


def _given(graph: Provenance, part: Op, stop: frozenset[ValueId]) -> dict[Place, Op]:
    return {place_of(op): op for op in reckoned_with(graph, part, stop)[1]}


def place_of(op: Op) -> Place:
    """Two reads of one place are the same value."""
    return (op.inputs[0], op.facts.settings) if op.name == "getitem" and op.facts.settings else op.nid
