"""A joint ratio whose parts are clipped one by one, and put together only then: that bounds no joint ratio.

Beside it stands what it is compared with, the same parts put together as they are: so the clip was to bound the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.flow import BOUNDING, SHAPING
from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import onward
from gradsan.record.events import Op, ValueId

JOINING = {"sum", "prod"}


class ClippedParts(NamedTuple):
    clipped: Op
    joined: Op
    met: Op  # where the smaller of both is taken


def clipped_parts(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[ClippedParts]:
    for clipped in graph.named(within, {"clamp"}):
        source = next(graph.inputs(clipped), None)
        if source is None or not clipped.live or not clipped.shape:
            continue
        whole = [op for op in _joined(graph, source, within) if op.shape != clipped.shape]
        for joined in _joined(graph, clipped, within):
            alike = [op for op in whole if (op.name, op.facts.axes) == (joined.name, joined.facts.axes)]
            met = _met(graph, joined, alike[0], within) if alike else None
            if met is not None:
                yield ClippedParts(clipped, joined, met)


def _joined(graph: Provenance, parts: Op, within: dict[ValueId, Op]) -> Iterator[Op]:
    """Sums or products of them along their last axis, be it behind a mask."""
    last = len(parts.shape) - 1
    stack = [parts]
    while stack:
        for user in onward(graph, stack.pop(), within):
            masked = user.name == "mul" and sum(i.live for i in graph.inputs(user)) == 1
            if user.name in JOINING and user.facts.axes == (last,) and parts.shape[last] > 1:
                yield user
            elif (masked or user.name in SHAPING) and user.shape == parts.shape:
                stack.append(user)


def _met(graph: Provenance, one: Op, other: Op, within: dict[ValueId, Op]) -> Op | None:
    """The smaller or larger of two values, each of which is made of one of these alone."""
    for op in graph.named(within, BOUNDING):
        sides = [graph.live_ancestors([i.nid]).keys() for i in graph.inputs(op) if i.live]
        if len(sides) == 2 and not op.facts.axes:
            ways = [{one.nid, other.nid} & side for side in sides]
            if sorted(ways, key=sorted) == sorted([{one.nid}, {other.nid}], key=sorted):
                return op
    return None
