"""A running sum or product along another axis than time.

Which axis is time is told by what was done to the values: what was put together step by step, each made of the one
before; or a flip, which turns time round so that the sum runs backwards, and a second one that turns it back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import BY_SIZE, LAYERS, ROWS, Roles, handed_on, onward, roles
from gradsan.record.events import Op, ValueId

RUNNING = {"cumsum", "cumprod"}
TIME = "time"
STEPS = 4  # fewer may be the layers of a stack


class AgainstTime(NamedTuple):
    """`op` runs along `axis`; `told` says that time is another one."""

    op: Op
    axis: int
    time: int
    told: Op


def against_time(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[AgainstTime]:
    running = [op for op in graph.named(within, RUNNING) if op.floating and len(op.facts.axes) == 1]
    # Of one number for each row and step: features may add up along the rows of an episode, layer by layer.
    running = [op for op in running if sum(n > 1 for n in op.shape) == 2]
    for op in running:
        if (flip := _turned_round(graph, op, within)) is not None:
            yield AgainstTime(op, op.facts.axes[0], flip.facts.axes[0], flip)
    chains = [op for op in graph.named(within, ("stack",)) if _is_chain(graph, op)] if running else []
    if not chains:
        return
    known, told = roles(graph, within), _along_time(graph, within, {op.nid for op in chains})
    for op in running:
        source, axis = next(graph.inputs(op), op), op.facts.axes[0]
        words = told.get(source.nid, ())
        if words.count(TIME) == 1 and words[axis] != TIME and _is_of_rows(graph, source, axis, known):
            yield AgainstTime(op, axis, words.index(TIME), chains[0])


def _turned_round(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> Op | None:
    """`x.flip(0).cumsum(1).flip(0)`: turned round before and after, along an axis that the sum does not run along."""
    before = next(graph.inputs(op), None)
    if before is None or before.name != "flip" or len(before.facts.axes) != 1:
        return None
    back = [u for u in onward(graph, op, within) if u.name == "flip" and u.facts.axes == before.facts.axes]
    return before if back and before.facts.axes != op.facts.axes else None


def _is_chain(graph: Provenance, stack: Op) -> bool:
    """Whether each part was made of the one before."""
    parts = list(graph.inputs(stack))
    if len(parts) < STEPS or len(stack.facts.axes) != 1 or not parts[-1].floating:
        return False
    behind = graph.ancestors([parts[-1].nid])
    return all(part.nid in behind for part in parts)


def _along_time(graph: Provenance, within: dict[ValueId, Op], chains: set[ValueId]) -> dict[ValueId, Roles]:
    """For each value, which of its axes is time, as far as it was made of such a chain."""
    told: dict[ValueId, Roles] = {}
    for nid in sorted(within):
        op = within[nid]
        inputs = [i for i in graph.inputs(op) if i.nid in told]
        if nid in chains:
            axis = op.facts.axes[0]
            told[nid] = tuple(TIME if a == axis else "" for a in range(len(op.shape)))
        elif op.kind == "operation" and inputs:
            first = next((i for i in inputs if TIME in told[i.nid]), inputs[0])
            keeps = op.name in LAYERS | BY_SIZE | {"cat"} and len(first.shape) == len(op.shape)
            words = told[first.nid] if keeps else handed_on(graph, op, told)
            told[nid] = words if len(words) == len(op.shape) else ("",) * len(op.shape)
    return told


def _is_of_rows(graph: Provenance, op: Op, axis: int, known: dict[ValueId, Roles]) -> bool:
    """Whether the axis is one of those that a layer was given, be it in one of the parts that were put together."""
    parts = [op, *(graph.inputs(op) if op.name == "cat" else ())]
    return any(known.get(p.nid, ())[axis : axis + 1] == (ROWS,) for p in parts)
