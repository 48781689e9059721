"""Advantages that a loop carries on step by step, `A = r + γ·m·V' - V + γλ·m·A'`, with the flags of the ends in one of
the two places only.

No environment has to be known. The value that is taken is that of the next step in the rollout, which is the first of
another episode where this one has ended: what is to be carried on there, and what is to be taken, end together. A value
of a state that was never in the rollout (the last one of an episode that was cut off) is another."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from gradsan.judge.flow import SELECTING, SHAPING, TAKEN_OUT
from gradsan.judge.provenance import Provenance
from gradsan.judge.returns.rollout_order import ARITHMETIC, FEWEST_STEPS, FORM, TOGETHER, reckoned_with
from gradsan.record.events import Backward, Op, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

FLAG_MAKING = (
    SHAPING | SELECTING | TAKEN_OUT | {"sub", "rsub", "neg", "mul", "float", "stack", "cat", "to", "type"}
)


class UnmaskedStep(NamedTuple):
    """`lacks` the flags that the other has; `site` puts it in."""

    joined: Op
    lacks: Literal["value", "sum"]
    site: Site
    steps: int


class _FlaggedWay(NamedTuple):
    """How one value comes into another: the line that scales it last, and the flags that it is multiplied with."""

    site: Site
    flags: frozenset[ValueId]


def unmasked_steps(history: History, event: Backward) -> Iterator[UnmaskedStep]:
    graph = history.graph
    for joined in graph.named(graph.ancestors(root.nid for root in event.roots), TOGETHER):
        parts = list(graph.inputs(joined)) if joined.facts.axes == (0,) else []
        if len(parts) < FEWEST_STEPS or len(parts) != len(joined.inputs) or any(p.live for p in parts):
            continue
        ways = [_ways(graph, now, after, parts) for now, after in pairwise(parts)]
        known = [way for way in ways if way is not None]
        if len(known) < len(ways):
            continue
        if all(carried.flags and not value.flags for carried, value in known):
            yield UnmaskedStep(joined, "value", known[0][1].site, len(parts))
        elif all(value.flags and not carried.flags for carried, value in known):
            yield UnmaskedStep(joined, "sum", known[0][0].site, len(parts))


def _ways(graph: Provenance, now: Op, after: Op, parts: list[Op]) -> tuple[_FlaggedWay, _FlaggedWay] | None:
    """Of the next advantage, and of the value that the next one is compared with, into this one."""
    others = frozenset(part.nid for part in parts)
    mine, theirs = (
        {op.nid for op in reckoned_with(graph, part, others - {part.nid})[1] if _is_learned(graph, op)}
        for part in (now, after)
    )
    carried = _way(graph, now, after.nid, others)
    values = [way for nid in mine & theirs if (way := _way(graph, now, nid, others)) is not None]
    return (carried, values[0]) if carried is not None and len(values) == 1 else None


def _way(graph: Provenance, op: Op, wanted: ValueId, parts: frozenset[ValueId]) -> _FlaggedWay | None:
    """From a value down to what it is reckoned with, past no other step."""
    stack, seen = [(op, op.site, frozenset[ValueId]())], {op.nid}
    while stack:
        here, site, flags = stack.pop()
        sides = list(graph.inputs(here))
        for side in sides:
            beside = [s for s in sides if s.nid != side.nid and s.shape and here.name == "mul"]
            found = flags.union(*(_flags(graph, s) for s in beside))
            where = here.site if here.name in ARITHMETIC else site
            if side.nid == wanted:
                return _FlaggedWay(where, found)
            if side.nid not in seen and side.nid not in parts and side.name in ARITHMETIC | FORM:
                seen.add(side.nid)
                stack.append((side, where, found))
    return None


def _flags(graph: Provenance, op: Op) -> set[ValueId]:
    """What is true or false, and nothing else, that a factor was made of."""
    behind = graph.ancestors([op.nid], lambda user, _: user.name in FLAG_MAKING and user.floating)
    return {nid for nid, source in behind.items() if not source.floating}


def _is_learned(graph: Provenance, op: Op) -> bool:
    return op.floating and bool(graph.value_params([op.nid]))
