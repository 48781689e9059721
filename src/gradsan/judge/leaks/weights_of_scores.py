"""A live value that weighs a log-probability in one loss, and learns from another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge.flow import ADDITIVE, SHAPING
from gradsan.record.events import Backward, Op, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History
    from gradsan.judge.ledger import Contribution

PASSING = SHAPING | ADDITIVE | {"getitem", "div"}


def as_a_weight(history: History, shared: Op, first: Contribution, event: Backward) -> Op | None:
    """Where the first loss takes the value up, if it only weighs scores there, and the second does something else with
    it: to the first it is a number, whoever steps."""
    graph = history.graph
    theirs, mine = (
        graph.live_ancestors(root.nid for root in roots) for roots in (first.event.roots, event.roots)
    )
    users = [theirs[nid] for nid in graph.consumers.get(shared.nid, ()) if nid in theirs]
    if not users or not _weighs_scores(history, shared, theirs) or _weighs_scores(history, shared, mine):
        return None
    return min(users, key=lambda op: op.nid)


def _weighs_scores(history: History, value: Op, within: dict[ValueId, Op]) -> bool:
    """Whether all that becomes of it is to be multiplied with a log-probability that it has no part in."""
    graph, stack, seen, found = history.graph, [value.nid], {value.nid}, False
    while stack:
        for user in (
            within[n] for n in graph.consumers.get(stack.pop(), ()) if n in within and n not in seen
        ):
            seen.add(user.nid)
            others = [i for i in graph.inputs(user) if i.live and i.nid not in seen]
            if user.name == "mul" and any(_is_score(history, other) for other in others):
                found = True
            elif user.name in PASSING:
                stack.append(user.nid)
            else:
                return False
    return found


def _is_score(history: History, op: Op) -> bool:
    while op.name in SHAPING | {"neg", "sum"} and "log_prob" not in op.tags:
        source = next(history.graph.inputs(op), None)
        if source is None:
            return False
        op = source
    return "log_prob" in op.tags
