"""Random numbers that are drawn into the memory of a value that is still needed: `noise = actions.data.normal_()`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ValueId

DRAWING = {"normal", "uniform", "exponential", "random", "bernoulli", "cauchy", "log_normal", "geometric"}
SECOND_NAMES = {"data", "detach", "alias"}


class DrawnOver(NamedTuple):
    draw: Op
    value: Op  # what was there
    read: Op  # what takes it afterwards


def drawn_over(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[DrawnOver]:
    """Where the draw is used as such, and a loss takes the value itself as well. A buffer of noise is filled without
    that: it is then read by its own name."""
    for draw in graph.named(within, DRAWING):
        named = next(graph.inputs(draw), None) if len(draw.inputs) == 1 and not draw.tags else None
        value = next(graph.inputs(named), None) if named is not None and named.name in SECOND_NAMES else None
        if named is None or value is None or named.site != draw.site or named.shape != draw.shape:
            continue
        used = [within[nid] for nid in graph.consumers.get(draw.nid, ()) if nid in within]
        later = [
            within[nid] for nid in graph.consumers.get(value.nid, ()) if nid in within and nid > draw.nid
        ]
        if any(op.name != "alias" for op in used) and value.floating and later:
            yield DrawnOver(draw, value, later[-1])
