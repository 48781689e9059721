"""Returns that a loop computed place by place (`rewards[t]`), each from its neighbour: whether it ran against time.

No environment has to be known for this: the places that a step reads tell which step it is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import prod
from typing import NamedTuple

from gradsan.judge.flow import SHAPING
from gradsan.judge.history import History
from gradsan.judge.provenance import Provenance
from gradsan.judge.returns.rollout_order import (
    ARITHMETIC,
    DEEPEST,
    FEWEST_STEPS,
    FORM,
    TOGETHER,
    Disorder,
    How,
    is_in_order,
    is_scored,
)
from gradsan.record.events import Backward, Op, ValueId

REORDERING = {"flip", "index_select", "sort", "argsort", "roll", "randperm", "shuffle"}
ADDING = {"add", "sub", "rsub"} | FORM
SCALED = {"sub", "div", "mul", "neg", "clamp"} | SHAPING  # of a weight, the first operand


class _Step(NamedTuple):
    """One step of a loop: what it read by place, and which other steps it goes on from."""

    reads: list[Op]
    added: list[Op]  # those of them that are neither averaged nor multiplied: the step's own
    from_steps: set[ValueId]


def indexed_disorders(history: History, event: Backward) -> Iterator[Disorder]:
    graph = history.graph
    for op in graph.named(graph.live_ancestors(root.nid for root in event.roots), ("mul",)):
        sides = list(graph.inputs(op))
        weights = [side for side in sides if not side.live]
        if len(sides) != 2 or len(weights) != 1 or not is_scored(history, sides[weights[0] is sides[0]]):
            continue
        made, score = _made(graph, weights[0]), sides[weights[0] is sides[0]]
        if made.name in TOGETHER and (how := _stacked(graph, made)) is not None:
            whole = made.shape[:1] == score.shape[:1] == weights[0].shape[:1] or _is_flat(graph, made, score)
            if how == "from the front" or (whole and not _is_reordered(graph, score, made.shape[:1])):
                yield Disorder(made, op, how, len(made.inputs))
        elif made.name == "setitem" and (found := _written(graph, made)) is not None:
            yield Disorder(made, op, *found)


def _made(graph: Provenance, op: Op) -> Op:
    """What a weight was before it was normalised, or parts of it were taken."""
    while op.name in SCALED | FORM | {"getitem"} and (source := next(graph.inputs(op), None)) is not None:
        op = source
    return op


def _is_flat(graph: Provenance, made: Op, score: Op) -> bool:
    """Whether what was done at these steps, of several copies each, was put together alike, and made one row of it."""
    in_a_row = score.shape == (prod(made.shape),) and len(made.shape) == 2
    return in_a_row and is_in_order(graph, score, len(made.inputs))


def _is_reordered(graph: Provenance, op: Op, steps: tuple[int, ...]) -> bool:
    """Whether the steps may have been brought into another order; what happens within one of them does not matter."""
    stack, seen = [op], {op.nid}
    while stack:
        here = stack.pop()
        if here.name in REORDERING or (here.name == "getitem" and len(here.inputs) > 1):
            return True
        if here.name in TOGETHER and here.facts.axes == (0,) and (len(here.inputs),) == steps:
            continue
        new = [source for source in graph.inputs(here) if source.nid not in seen]
        seen.update(source.nid for source in new)
        stack += new
    return False


def _stacked(graph: Provenance, joined: Op) -> How | None:
    parts = list(graph.inputs(joined)) if joined.facts.axes == (0,) else []
    if len(parts) < FEWEST_STEPS or len(parts) != len(joined.inputs):
        return None
    steps = [_step(graph, part, {p.nid for p in parts}) for part in parts]
    places = [_place(graph, step.added, 0, len(parts)) for step in steps]
    rising = all(b - a == 1 for a, b in pairwise(places)) and places[0] >= 0
    falling = all(a - b == 1 for a, b in pairwise(places)) and places[-1] >= 0
    linked = [
        (a.nid in y.from_steps, b.nid in x.from_steps)
        for (a, x), (b, y) in pairwise(zip(parts, steps, strict=True))
    ]
    front, behind = all(f for f, _ in linked), all(b for _, b in linked)
    if front == behind or not (rising or falling):
        return None
    if falling:
        return "the other way round"
    return "from the front" if front and all(step.added for step in steps) else None


def _written(graph: Provenance, last: Op) -> tuple[How, int] | None:
    """The same for a buffer that a loop fills place by place, with time."""
    writes = [last]
    while (before := next(graph.inputs(writes[-1]), None)) is not None and before.name == "setitem":
        writes.append(before)
    states = {write.inputs[0] for write in writes} | {last.nid}
    writes = [w for w in reversed(writes) if len(w.inputs) == 2 and w.site == last.site and w.facts.place]
    axis, places = last.facts.place[:1], [w.facts.place[1] for w in writes]
    if len(writes) < FEWEST_STEPS or any(w.facts.place[:1] != axis for w in writes):
        return None
    if any(b - a != 1 for a, b in pairwise(places)):
        return None
    values = [graph.get(w.inputs[1]) for w in writes]
    steps = [_step(graph, value, {w.inputs[1] for w in writes}) for value in values if value is not None]
    if len(steps) != len(writes) or not all(step.added for step in steps):
        return None
    return _course(graph, writes, steps, states)


def _course(
    graph: Provenance, writes: list[Op], steps: list[_Step], states: set[ValueId]
) -> tuple[How, int] | None:
    from_before, from_empty = [], []
    for at, (write, step) in enumerate(zip(writes, steps, strict=True)):
        axis, place = write.facts.place
        own = [o for o in step.added if o.inputs[0] not in states]
        carried = [_taken_at(graph, o)[1] for o in step.reads if o.inputs[0] in states]
        if _place(graph, own, axis, len(writes)) != place:
            return None
        if at and not carried:
            from_before.append(writes[at - 1].inputs[1] in step.from_steps)
        elif at:
            from_before.append(carried == [place - 1])
        from_empty.append(carried == [place + 1])
    if all(from_before):
        return "from the front", len(writes)
    return ("from empty places", len(writes)) if all(from_empty) else None


def _place(graph: Provenance, reads: list[Op], axis: int, steps: int) -> int:
    """The first place that is read of what holds as many as there are steps; -1 where nothing is."""
    wholes = [(o, graph.get(o.inputs[0])) for o in reads]
    found = [
        at[1]
        for o, whole in wholes
        if whole is not None and (at := _taken_at(graph, o))[0] == axis and whole.shape[axis] >= steps
    ]
    turned = any(w is not None and _is_turned(graph, w) for _, w in wholes)
    return min(found, default=-1) if not turned else -1


def _taken_at(graph: Provenance, op: Op) -> tuple[int, ...]:
    """The axis and the place of `x[t]`, or of one of the rows that a loop over `x` goes through."""
    if op.name == "unbind" and (whole := next(graph.inputs(op), None)) is not None:
        return (0, op.facts.part) if whole.shape[1:] == op.shape else ()
    return op.facts.place if op.name == "getitem" else ()


def _is_turned(graph: Provenance, whole: Op) -> bool:
    """Whether its places do not run with time, or may not."""
    op: Op | None = whole
    while op is not None and op.name not in REORDERING and op.name in FORM:
        op = next(graph.inputs(op), None)
    falling = op is not None and op.name in TOGETHER and all(a > b for a, b in pairwise(op.inputs))
    return op is not None and (op.name in REORDERING or falling)


def _before_mask(graph: Provenance, op: Op) -> Op:
    """`(delta + discount * carried) * mask[:, t]`: the sum, where it is multiplied as a whole with what lies at its
    place."""
    while op.name in {"mul"} | FORM:
        sides = list(graph.inputs(op))
        sums = [side for side in sides if not _taken_at(graph, side)] if len(sides) == 2 else sides
        if len(sums) != 1 or sums[0].name not in ARITHMETIC | FORM or (len(sides) == 1 and op.name == "mul"):
            break
        op = sums[0]
    return op


def _step(graph: Provenance, part: Op, parts: set[ValueId]) -> _Step:
    found, stack, seen = _Step([], [], set()), [(_before_mask(graph, part), True)], {part.nid}
    while stack and len(seen) < 2 * DEEPEST:
        op, plain = stack.pop()
        plain = plain and op.name in ADDING
        for source in graph.inputs(op):
            if source.nid in parts and source.nid != part.nid:
                found.from_steps.add(source.nid)
            elif source.nid not in seen and _taken_at(graph, source):
                found.reads.append(source)
                found.added.extend([source] if plain else [])
            elif source.nid not in seen and source.name in ARITHMETIC | FORM:
                stack.append((source, plain))
            seen.add(source.nid)
    return found
