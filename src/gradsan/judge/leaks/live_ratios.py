"""Importance ratios whose denominator is live: what another network says of how likely the choice was.

`exp(new - old) * advantage` is an expectation under the policy that collected, corrected: whoever models that policy
(a proposal, a behaviour fitted beside it) is a number there. With gradient, the loss makes the rewarded choices look
unlikely under it, instead of likelier under the policy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge import flow
from gradsan.judge.leaks.own_weights import goes_both_ways, is_number, scores_a_choice
from gradsan.judge.ledger import Contribution
from gradsan.judge.objective.scores import SURPRISES
from gradsan.judge.provenance import Provenance, params_of
from gradsan.record.events import Op, ParamId, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

LIMITING = flow.SHAPING | {"clamp", "clamp_max", "clamp_min", "min", "minimum", "max", "maximum", "neg"}


class LiveRatio(NamedTuple):
    ratio: Op
    old: Op  # the denominator, or its logarithm
    pids: set[ParamId]  # of the network that made it, and not the numerator


def live_ratios(
    history: History, contribution: Contribution, within: dict[ValueId, Op]
) -> Iterator[LiveRatio]:
    graph, consumed = history.graph, contribution.consumed_pids()
    for op in graph.named(within, ("exp", "div")):
        new, old = _sides(graph, op)
        if not new or not old:
            continue
        ahead, behind = (graph.live_params([side.nid for side in ops]) for ops in (new, old))
        pids = (behind - ahead) & consumed
        if not pids or not ahead - behind or graph.is_hidden([op.nid]):
            continue
        corrects = _is_multiplied(graph, op, within) and flow.is_averaged(graph, op, within)
        known = goes_both_ways(contribution.event, graph, op) or _learns_elsewhere(
            history, contribution, op, pids
        )
        if corrects and known:
            yield LiveRatio(op, old[0], pids)


def _learns_elsewhere(history: History, contribution: Contribution, ratio: Op, pids: set[ParamId]) -> bool:
    """Whether these parameters have a loss of their own, beside the ratio."""
    graph = history.graph
    losses = [c for c in history.ledger.recent.values() if c.iteration == contribution.iteration]
    roots = [root.nid for c in losses for root in c.event.roots]
    past = graph.ancestors(roots, lambda op, source: op.live and source.live and op.nid != ratio.nid)
    return pids <= {pid for op in past.values() for pid in params_of(op)}


def _sides(graph: Provenance, op: Op) -> tuple[list[Op], list[Op]]:
    """The live scores of choices that a ratio has above and below the line; nothing where it is no ratio."""
    inputs = list(graph.inputs(op))
    if op.name == "div":
        chosen = len(inputs) == 2 and all(i.live and _is_probability(graph, i) for i in inputs)
        return (inputs[:1], inputs[1:]) if chosen else ([], [])
    terms = [t for i in inputs for t in flow.terms(graph, i) if t.op.live]
    if not all(scores_a_choice(graph, t.op) for t in terms):
        return [], []
    signed = [(t.op, -t.sign if t.op.name in SURPRISES else t.sign) for t in terms]
    return [op for op, sign in signed if sign > 0], [op for op, sign in signed if sign < 0]


def _is_probability(graph: Provenance, op: Op) -> bool:
    """Of what was chosen: picked from all, or made of its logarithm."""
    current: Op | None = op
    while current is not None and (current.name in flow.SHAPING or len(current.inputs) == 1):
        if current.name == "exp":
            return all(scores_a_choice(graph, i) for i in graph.inputs(current))
        if current.name not in flow.SHAPING | {"clamp", "clamp_min", "add"}:
            return False
        current = next(graph.inputs(current), None)
    picks = current is not None and current.name in ("gather", "getitem", "take_along_dim")
    source = next(graph.inputs(current), None) if current is not None and picks else None
    return source is not None and source.name in ("softmax", "exp")


def _is_multiplied(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> bool:
    """By numbers from outside, limited before or not."""
    users = flow.users_through(graph, op, within, LIMITING)
    return any(user.name == "mul" and any(is_number(graph, i) for i in graph.inputs(user)) for user in users)
