"""Preferences: a difference that is only wanted to have a sign has two sides, and both of them are to learn."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge import flow
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ParamId, ValueId

LOGISTIC = {"logsigmoid", "log_sigmoid", "softplus"}


def constant_sides(
    graph: Provenance, roots: list[ValueId], trained: set[ParamId]
) -> Iterator[tuple[Op, set[ParamId]]]:
    """`logsigmoid(chosen.detach() - rejected)`: one side, and the parameters that made both. Where a reference is
    subtracted, both sides are live beside it."""
    within = graph.live_ancestors(roots)
    for op in within.values():
        source = next(graph.inputs(op), None)
        if op.name not in LOGISTIC or source is None or not _is_averaged(graph, op, within):
            continue
        terms = flow.terms(graph, source, reshape=False)
        live = [term for term in terms if term.op.live]
        if len({term.sign for term in live}) != 1:
            continue
        learned = graph.live_params([term.op.nid for term in live]) & trained
        for term in terms:
            twin = term.op.shape == live[0].op.shape and term.sign == -live[0].sign
            if not term.op.live and twin and (pids := graph.value_params([term.op.nid]) & learned):
                yield term.op, pids


def _is_averaged(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> bool:
    """Whether the loss takes it as it is: softplus and its kind are layers, too."""
    after = graph.descendants([op.nid], within) - {op.nid}
    return all(within[nid].name in flow.LINEAR | flow.JOINING for nid in after)
