"""An expectation over all actions whose probabilities were taken out of their graph.

In `(p.detach() * (alpha * log_p - q)).sum(-1)` the critic's answer meets constants only, and what is left, the sum of
`p * d(log p)`, is the derivative of one: zero. The policy learns nothing from it, though a gradient seems to flow."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.flow import SHAPING, TAKEN_OUT
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ParamId, ValueId

SUMMING = {"add", "sub", "rsub"}


def dead_expectations(
    graph: Provenance, roots: list[ValueId], trained: set[ParamId]
) -> Iterator[tuple[Op, set[ParamId]]]:
    """A divergence from the policy's own constant copy has no judgement in it, and is flat by right."""
    live = graph.live_ancestors(roots)
    for join in graph.named(live, ("mul",)):
        sides = [i for i in graph.inputs(join) if i.shape == join.shape]
        cut = next((s for s in sides if not s.live and s.name in TAKEN_OUT), None)
        scored = next((s for s in sides if s.live), None)
        if cut is None or scored is None or not _is_summed_over_actions(graph, join, live):
            continue
        source = next(graph.inputs(cut), None)
        lost = graph.live_params([source.nid]) & trained if source is not None and source.live else set()
        if source is not None and lost and _judges_logs_of(graph, scored, source, lost):
            yield cut, lost


def _is_summed_over_actions(graph: Provenance, op: Op, live: dict[ValueId, Op]) -> bool:
    users = [live[nid] for nid in graph.consumers.get(op.nid, ()) if nid in live]
    return bool(users) and all(u.name == "sum" and u.facts.axes == (len(op.shape) - 1,) for u in users)


def _judges_logs_of(graph: Provenance, scored: Op, probabilities: Op, pids: set[ParamId]) -> bool:
    """Whether it is made of the logarithms of these very probabilities, scaled alike for all actions, and of what
    another network says about each action."""
    logits, stack, judged = _logits(graph, probabilities), [scored], False
    while stack:
        op = stack.pop()
        if not op.live:
            behind = graph.value_params([op.nid])
            judged = judged or (op.shape == scored.shape and bool(behind) and behind.isdisjoint(pids))
        elif op.name in SUMMING or op.name == "neg" or (op.name == "mul" and _is_scaled_alike(graph, op)):
            stack += [i for i in graph.inputs(op) if i.live or op.name in SUMMING]
        elif logits is None or _logits(graph, op) != logits:
            return False
    return judged


def _is_scaled_alike(graph: Provenance, op: Op) -> bool:
    others = [i for i in graph.inputs(op) if i.shape != op.shape]
    return len(list(graph.inputs(op))) == 1 or all(not i.live and i.shape[-1:] in ((), (1,)) for i in others)


def _logits(graph: Provenance, op: Op) -> ValueId | None:
    """What a softmax along the last axis was taken of, or its logarithm."""
    while op.name in {"exp", "log", *SHAPING} and (given := next(graph.inputs(op), None)) is not None:
        op = given
    last = op.name in ("softmax", "log_softmax") and op.facts.axes == (len(op.shape) - 1,)
    return next((i.nid for i in graph.inputs(op)), None) if last else None
