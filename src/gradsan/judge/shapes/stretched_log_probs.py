"""The log-probability of an action as a whole, stretched over the columns of an old one that has one for each part.

A buffer with a column for every joint takes one number for all of them without a word. The ratio then has as many
columns as the action has parts, each the same, and what sums over them counts every action that often.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import onward
from gradsan.judge.shapes.written_densities import is_log_prob
from gradsan.record.events import Op, ValueId


class Stretched(NamedTuple):
    joint: Op
    old: Op
    where: Op


def stretched(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[Stretched]:
    """Where a live sum over the parts, kept as a column, is compared with a constant that has a column for each part,
    and a ratio is made of it."""
    for joint in graph.named(within, {"sum"}):
        parts = next(graph.inputs(joint), None)
        if parts is None or not joint.live or not _is_joint(joint, parts) or not is_log_prob(graph, parts):
            continue
        for where in onward(graph, joint, within):
            others = (i for i in graph.inputs(where) if i.nid != joint.nid and i.floating)
            old = next((i for i in others if not i.live and i.shape == parts.shape == where.shape), None)
            if old is not None and where.name in ("sub", "rsub") and _becomes_a_ratio(graph, where, within):
                yield Stretched(joint, old, where)


def _is_joint(joint: Op, parts: Op) -> bool:
    last = len(parts.shape) - 1
    return last > 0 and joint.facts.axes == (last,) and joint.shape == (*parts.shape[:-1], 1) != parts.shape


def _becomes_a_ratio(graph: Provenance, difference: Op, within: dict[ValueId, Op]) -> bool:
    return any(user.name == "exp" for user in onward(graph, difference, within))
