"""The value of what comes after the last token of an answer: padding, of which nobody has taught the critic anything.

Looked for as `r + gamma * values[:, t + 1] - values[:, t]` of one table of values, in a loop or for all steps at once,
where nothing has been masked between the critic and the sum. That rows end in padding is told by the mask of the loss
and the tokens that were read (`shapes/masks.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.flow import SHAPING, TAKEN_OUT
from gradsan.judge.provenance import Provenance, params_of
from gradsan.judge.shapes.masks import is_padding, masked_in
from gradsan.record.events import Op, ValueId

TAKING = {"getitem", "narrow", "select", "unbind"}
SHIFTING = TAKING | {"cat", "pad", "roll"}
FAR = 24  # operations between a value and its use


class PaddingValue(NamedTuple):
    """`taken`: the next value, added in `target`; `masked`: the product that leaves the padding out of the loss."""

    taken: Op
    target: Op
    masked: Op


def values_of_padding(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[PaddingValue]:
    padding = next((one for one in masked_in(graph, within) if is_padding(graph, one, within)), None)
    if padding is None:
        return
    shape = padding.product.shape
    weights = [
        side.nid
        for op in graph.named(within, ("mul",))
        for side in graph.inputs(op)
        if op.live and not side.live and side.shape == shape and graph.value_params([side.nid])
    ]
    for op in graph.named(graph.ancestors(weights), ("add",)):
        for side in graph.inputs(op):
            found = _table(graph, side)
            if found is not None and found[1] is not None and _is_subtracted(graph, op, found[0]):
                yield PaddingValue(found[1], op, padding.product)
                break


def _table(graph: Provenance, op: Op) -> tuple[Op, Op | None] | None:
    """The table of values that this is a step of, as the critic has said it, and what took the step; nothing where it
    was masked on the way."""
    taken: Op | None = None
    for _ in range(FAR):
        sources = [i for i in graph.inputs(op) if i.floating]
        scaled = op.name in ("mul", "div") and all(not i.shape for i in sources[1:])
        if op.name in TAKING and len(op.inputs) == 1 and len(sources) == 1 and _is_smaller(op, sources[0]):
            taken = op if taken is None else taken
        elif not (scaled or op.name in SHAPING | TAKEN_OUT | SHIFTING):
            break
        behind = [i for i in sources if graph.value_params([i.nid])]
        if len(behind) != 1 or (op.name in TAKING and len(op.inputs) > 1):
            break
        op = behind[0]
    made = any(params_of(i) for i in graph.inputs(op))
    return (op, taken) if made and len(op.shape) >= 2 else None


def _is_smaller(op: Op, source: Op) -> bool:
    """One step of all, or all but the first."""
    return len(op.shape) < len(source.shape) or op.shape[1:2] != source.shape[1:2]


def _is_subtracted(graph: Provenance, total: Op, table: Op) -> bool:
    """The present value, from what the next one was added to, or before."""
    users = [graph.ops[nid] for nid in graph.consumers.get(total.nid, ()) if nid in graph.ops]
    for op in (*users, *graph.inputs(total)):
        sides = list(graph.inputs(op)) if op.name == "sub" else []
        found = _table(graph, sides[1]) if len(sides) == 2 else None
        if found is not None and found[0].nid == table.nid:
            return True
    return False
