"""The loss of a temperature or a multiplier, `log_alpha * (log_prob + entropy)`, that also trains the policy.

The policy has its own term, in which the same value is weighed by the same parameter, cut off. Where there is none, a
live product is how a multiplier and a policy are trained against each other in one loss, and right.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge import flow
from gradsan.judge.history import History
from gradsan.judge.ledger import Contribution
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ParamId

ON_THE_WAY = flow.SHAPING | flow.ADDITIVE | {"neg", "mean"}


class DualTerm(NamedTuple):
    product: Op
    value: Op
    """What should be a constant in this product."""
    beside: Op
    """The product in which it may be live."""
    own: set[ParamId]
    pids: set[ParamId]


def dual_terms(history: History, contribution: Contribution) -> Iterator[DualTerm]:
    graph, consumed = history.graph, contribution.consumed_pids()
    live = graph.live_ancestors(root.nid for root in contribution.event.roots)
    for product in graph.named(live, {"mul"}):
        sides = list(graph.inputs(product))
        if len(sides) != 2 or not all(side.live for side in sides):
            continue
        for weight, weighed in (sides, sides[::-1]):
            own, others = graph.live_params([weight.nid]), graph.live_params([weighed.nid])
            if own and others & consumed and not own & others and _are_apart(history, own, others):
                for value, beside in _weighed_elsewhere(history, product, weighed, own):
                    yield DualTerm(product, value, beside, own, others & consumed)


def _are_apart(history: History, own: set[ParamId], others: set[ParamId]) -> bool:
    """Whether each side has an optimizer of its own."""
    mine, theirs = ({id(owner) for pid in pids for owner in history.owner_of(pid)} for pids in (own, others))
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _weighed_elsewhere(
    history: History, product: Op, weighed: Op, own: set[ParamId]
) -> Iterator[tuple[Op, Op]]:
    graph = history.graph
    value = _without_constants(graph, weighed)
    for user in flow.users_through(graph, value, graph.ops, ON_THE_WAY):
        cut = [i for i in graph.inputs(user) if not i.live] if user.live and user.name == "mul" else []
        if cut and user.nid != product.nid and all(graph.value_params([i.nid]) == own for i in cut):
            yield value, user


def _without_constants(graph: Provenance, op: Op) -> Op:
    """`(log_prob + target_entropy).mean()` is about `log_prob`."""
    while op.name in ON_THE_WAY and len(live := [i for i in graph.inputs(op) if i.live]) == 1:
        op = live[0]
    return op
