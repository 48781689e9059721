"""What a squashing does to a density, summed over all samples and taken from the log-probability of each."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gradsan.judge.flow import SHAPING, behind_all
from gradsan.judge.missing.half_cuts import BY_ELEMENT
from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import ROWS, Roles, onward
from gradsan.judge.shapes.joint_log_probs import ADDING, SummedOver, drawn_in
from gradsan.record.events import Op, ValueId

ELEMENTWISE = BY_ELEMENT | SHAPING


def corrections_of_all(
    graph: Provenance, within: dict[ValueId, Op], known: dict[ValueId, Roles]
) -> Iterator[SummedOver]:
    """`log_prob - log(1 - a.tanh() ** 2).sum()`: one number that the samples of all rows have made, on every row."""
    for op in within.values():
        if "log_prob" not in op.tags or not op.shape or op.shape[0] < 2 or known[op.nid][0] != ROWS:
            continue
        for value in _per_sample(graph, op, within):
            for user in onward(graph, value, within):
                others = [i for i in graph.inputs(user) if i.nid != value.nid]
                if user.name in ADDING and "log_prob" not in user.tags and len(others) == 1:
                    total = _sum_of_all(graph, others[0], drawn_in(graph, op), op.shape[0])
                    if total is not None:
                        yield SummedOver(op, total, user, value)


def _per_sample(graph: Provenance, log_prob: Op, within: dict[ValueId, Op]) -> Iterator[Op]:
    """It, or its sum over the dimensions of the action."""
    stack, seen = [log_prob], set[ValueId]()
    while stack:
        value = stack.pop()
        if value.nid in seen:
            continue
        seen.add(value.nid)
        yield value
        for user in onward(graph, value, within):
            summed = user.name == "sum" and 0 not in user.facts.axes
            if (summed or user.name in SHAPING) and user.shape[:1] == log_prob.shape[:1]:
                stack.append(user)


def _sum_of_all(graph: Provenance, correction: Op, drawn: set[ValueId], samples: int) -> Op | None:
    """The sum that made one number of as many values as were drawn, each of one of them."""
    op = behind_all(graph, correction, SHAPING | {"neg"})
    if op is None or op.name != "sum" or math.prod(op.shape) != 1:
        return None
    source = next(graph.inputs(op), None)
    if source is None or math.prod(source.shape) < samples:
        return None
    behind = graph.ancestors([source.nid], lambda user, _: user.name in ELEMENTWISE)
    size = math.prod(source.shape)
    made_of = [behind[nid] for nid in drawn if nid in behind]
    return op if any(math.prod(sample.shape) == size for sample in made_of) else None
