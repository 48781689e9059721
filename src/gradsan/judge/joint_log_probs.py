"""Log-probabilities of the parts of one action: put side by side, or summed over more than the parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.axes import LAYERS, RESHAPING, ROWS, Roles, onward
from gradsan.judge.provenance import Provenance
from gradsan.record.events import NOTHING, Op, ValueId

PASSING = RESHAPING | {"neg", "add", "sub", "rsub", "to", "float", "clone", "contiguous", "exp", "clamp"}


class SummedOver(NamedTuple):
    """A log-probability of every sample that was summed to one number, and the weight per sample that it meets."""

    log_prob: Op
    total: Op
    where: Op
    weight: Op


def stacked_branches(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[Op]:
    """`torch.stack([d.log_prob(a) …], -1)` of several choices that are made from the very same features. Agents who
    see different things have an action, and a log-probability, each."""
    for op in within.values():
        if op.name != "stack" or len(op.shape) < 2 or op.facts.axes != (len(op.shape) - 1,):
            continue
        parts = list(graph.inputs(op))
        if len(parts) < 2 or not all("log_prob" in part.tags and part.live for part in parts):
            continue
        sources = {_features_of(graph, part) for part in parts}
        if len(sources) == 1 and NOTHING not in sources:
            yield op


def _features_of(graph: Provenance, log_prob: Op) -> ValueId:
    """What the layer was given whose output the distribution was made of."""
    stack, seen = [log_prob], set()
    while stack:
        op = stack.pop()
        if op.nid in seen or not op.live:
            continue
        seen.add(op.nid)
        inputs = list(graph.inputs(op))
        if op.name in LAYERS and any(i.kind == "parameter" for i in inputs):
            return next((i.nid for i in inputs if i.kind != "parameter"), NOTHING)
        stack.extend(inputs)
    return NOTHING


def summed_over_rows(
    graph: Provenance, within: dict[ValueId, Op], known: dict[ValueId, Roles]
) -> Iterator[SummedOver]:
    """The log-probabilities of a whole batch, as one number, weighed with a constant for every sample."""
    for op in within.values():
        if "log_prob" not in op.tags or not op.live or len(op.shape) < 2 or known[op.nid][0] != ROWS:
            continue
        for total in onward(graph, op, within):
            if total.name == "sum" and not total.shape and "log_prob" not in total.tags:
                met = _weight_of_each(graph, total, within, op.shape[0])
                if met is not None:
                    yield SummedOver(op, total, *met)


def _weight_of_each(
    graph: Provenance, total: Op, within: dict[ValueId, Op], samples: int
) -> tuple[Op, Op] | None:
    stack, seen = [total], set()
    while stack:
        value = stack.pop()
        for user in onward(graph, value, within):
            if user.nid in seen:
                continue
            seen.add(user.nid)
            others = [i for i in graph.inputs(user) if i.nid != value.nid and i.floating]
            weight = next((i for i in others if i.shape[:1] == (samples,) and not i.live), None)
            if user.name == "mul" and weight is not None and samples > 1:
                return user, weight
            if not user.shape and user.name in PASSING:
                stack.append(user)
    return None
