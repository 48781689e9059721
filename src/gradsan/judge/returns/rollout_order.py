"""Returns that a loop computed step by step, each from its neighbour, and the order in which they were put together.

No environment has to be known for this: what a step brought was made while the rollout ran, so that the numbers of
values, which are counted upwards, tell the steps apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

from gradsan.judge.flow import SELECTING, SHAPING, TAKEN_OUT
from gradsan.judge.history import History
from gradsan.judge.objective.weighed import DIFFERENCES, is_score
from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.written_densities import is_written
from gradsan.record.events import Backward, Op, ValueId

FEWEST_STEPS = 4
DEEPEST = 24  # operations that one step of a return takes
TOGETHER = {"cat", "stack"}
ARITHMETIC = {"add", "sub", "rsub", "mul", "div", "neg", "lerp", "where", "clamp"}
FORM = (SHAPING - {"flip"}) | TAKEN_OUT


How = Literal["the other way round", "from the front", "from empty places"]


class Disorder(NamedTuple):
    """`joined` holds returns, one after the other, and meets what was done at the same steps in `op`."""

    joined: Op
    op: Op
    how: How
    steps: int


def disorders(history: History, event: Backward) -> Iterator[Disorder]:
    graph = history.graph
    within = graph.ancestors(root.nid for root in event.roots)
    chains = {op.nid: chain for op in within.values() if (chain := _chain(graph, op))}
    if not chains:
        return
    for op in graph.live_ancestors(root.nid for root in event.roots).values():
        if op.name != "mul" and op.name not in DIFFERENCES:
            continue
        sides = list(graph.inputs(op))[:2]
        for side, other in ((side, other) for side in sides for other in sides if side.nid != other.nid):
            weighs = op.name == "mul" and is_scored(history, other)
            if not other.live or (op.name == "mul" and not weighs):
                continue
            for joined in _joined(graph, side):
                if joined.nid in chains and is_in_order(graph, other, len(joined.inputs)):
                    steps, built_from = chains[joined.nid]
                    if steps == "falling":
                        yield Disorder(joined, op, "the other way round", len(joined.inputs))
                    elif built_from == "front" and weighs:
                        yield Disorder(joined, op, "from the front", len(joined.inputs))


def is_scored(history: History, op: Op) -> bool:
    """A log-probability, or a ratio of such, be the density written by hand."""
    return is_score(history, op, also=lambda value: is_written(history.graph, value))


def _joined(graph: Provenance, op: Op) -> Iterator[Op]:
    """What this value holds row by row, whatever it was scaled by or compared with."""
    stack, seen = [op], {op.nid}
    while stack and len(seen) < DEEPEST:
        here = stack.pop()
        if here.name in TOGETHER:
            yield here
        elif here.name in ARITHMETIC | FORM | {"getitem", "index_select"}:
            new = [i for i in graph.inputs(here) if i.nid not in seen and i.floating]
            seen.update(i.nid for i in new)
            stack += new


def _chain(graph: Provenance, op: Op) -> tuple[str, str] | None:
    """Whether each part was computed from the one behind or in front of it, and whether what the steps brought was
    made in this order (rising) or against it."""
    parts = list(graph.inputs(op)) if op.name in TOGETHER and op.facts.axes == (0,) else []
    if len(parts) < FEWEST_STEPS or len(parts) != len(op.inputs):
        return None
    found = {(step.nid, part.nid) for part in parts for step in reckoned_with(graph, part)[0]}
    behind = all((b.nid, a.nid) in found for a, b in pairwise(parts))
    front = all((a.nid, b.nid) in found for a, b in pairwise(parts))
    if behind == front:
        return None
    first = min(part.nid for part in parts)
    times = [_newest(graph, part, {p.nid for p in parts}, first) for part in parts]
    # The step at one end may hold the value that everything is bootstrapped from, which was made last of all.
    order = _order(times) or _order(times[1:]) or _order(times[:-1])
    return (order, "front" if front else "behind") if order else None


def reckoned_with(
    graph: Provenance, part: Op, stop: frozenset[ValueId] = frozenset()
) -> tuple[list[Op], list[Op]]:
    """What a part was reckoned with: the operations, and what they were given."""
    reckoned, given, stack, seen = list[Op](), list[Op](), [part], {part.nid}
    while stack and len(seen) < DEEPEST:
        for source in graph.inputs(stack.pop()):
            if source.nid in seen or source.nid in stop:
                continue
            seen.add(source.nid)
            if source.name in ARITHMETIC | FORM:
                reckoned.append(source)
                stack.append(source)
            else:
                given.append(source)
    return reckoned, given


def _newest(graph: Provenance, part: Op, parts: set[ValueId], first: ValueId) -> ValueId:
    """The last thing that was made for this step, while the rollout ran."""
    _, given = reckoned_with(graph, part, frozenset(parts - {part.nid}))
    # What is taken from a whole is as old as that, whenever it is taken, and in whatever order.
    return max((op.nid for op in given if op.nid < first and op.name not in SELECTING), default=ValueId(0))


def _order(times: list[ValueId]) -> str:
    rising = all(a < b for a, b in pairwise(times))
    falling = all(a > b for a, b in pairwise(times))
    return "rising" if rising else "falling" if falling else ""


def is_in_order(graph: Provenance, op: Op, steps: int) -> bool:
    """Whether what was done at these steps was put together as it was done."""
    joins = [o for o in graph.ancestors([op.nid]).values() if o.name in TOGETHER and len(o.inputs) == steps]
    return bool(joins) and all(_order(list(o.inputs)) == "rising" for o in joins)
