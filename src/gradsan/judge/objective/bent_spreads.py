"""Bonuses on the square of a logarithm of a spread: they grow to either side of a spread of one, as no entropy does."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge import flow
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ValueId

LOGS = {"log", "log2", "log10"}


def bent_spreads(graph: Provenance, roots: list[ValueId], scores: set[ValueId]) -> Iterator[tuple[Op, int]]:
    """The terms of a loss, with their signs, that are an even function of log σ, where σ is the spread of what one of
    the `scores` (log-probabilities) was computed with."""
    within = graph.live_ancestors(roots)
    behind = graph.live_ancestors(scores)
    for root in (graph.get(nid) for nid in roots):
        for term in flow.terms(graph, root) if root is not None else ():
            inside = _bent(graph, term.op)
            if inside is not None and _is_log_of_spread(graph, inside, within, behind):
                yield term.op, term.sign


def _bent(graph: Provenance, op: Op) -> Op | None:
    """x, of x², |x| or x·x."""
    if not op.live:
        return None
    # `x.square()` is a power without a number.
    even = op.name == "pow" and op.facts.scalars in ((), (2.0,)) and len(op.inputs) == 1
    twice = op.name == "mul" and len(op.inputs) == 2 and op.inputs[0] == op.inputs[1]
    if not (even or twice or op.name in ("square", "abs")):
        return None
    source = next(graph.inputs(op), None)
    return flow.unshaped(graph, source) if source is not None else None


def _is_log_of_spread(
    graph: Provenance, op: Op, within: dict[ValueId, Op], behind: dict[ValueId, Op]
) -> bool:
    """It was made by a logarithm of what the score is computed with, or its exponential is that."""
    if op.name in LOGS:
        return any(_is_behind(graph, source, behind) for source in graph.inputs(op) if source.live)
    users = flow.users_through(graph, op, within, flow.SHAPING | {"clamp", "neg"})
    return any(user.name == "exp" and _is_behind(graph, user, behind) for user in users)


def _is_behind(graph: Provenance, op: Op, behind: dict[ValueId, Op]) -> bool:
    return op.nid in behind or flow.unshaped(graph, op).nid in behind
