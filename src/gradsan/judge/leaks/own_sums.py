"""`w / w.sum(-1, keepdim=True)` where there is one column: every share is one, whatever the weight."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.flow import unshaped
from gradsan.judge.provenance import Provenance, params_of
from gradsan.record.events import Op, ParamId, ValueId

FOLDING = {"sum", "mean", "amax", "amin", "max", "min"}


def shares_of_one(graph: Provenance, live: dict[ValueId, Op]) -> Iterator[tuple[Op, Op]]:
    """The division, and what is divided by itself."""
    for op in graph.named(live, {"div"}):
        sides = list(graph.inputs(op))
        if len(sides) != 2 or not all(side.live for side in sides):
            continue
        total = unshaped(graph, sides[1])
        value = next(graph.inputs(total), None)
        if value is None or total.name not in FOLDING or value.nid != sides[0].nid or not total.facts.axes:
            continue
        if value.shape == sides[1].shape == op.shape and len(value.shape) > 1:
            yield op, value


def reached_only_through(graph: Provenance, op: Op, value: Op, roots: list[ValueId]) -> set[ParamId]:
    """The parameters behind the value that have no other way to the loss."""
    others = graph.ancestors(roots, lambda user, source: user.live and source.live and user.nid != op.nid)
    reached = {pid for o in others.values() for pid in params_of(o)}
    return set(graph.live_params([value.nid])) - reached
