"""A value that is fitted to what critics say less a log-probability, left alive: `q.min(…) - log_prob`.

Such a sum is a target and nothing else: another term of the same loss fits these critics to data, and the value's loss
pulls them along. Differences in which everything is to learn (path consistency, agreement of two heads) have no such
term beside them, or no log-probability in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.flow import Term
from gradsan.judge.ledger import Contribution
from gradsan.judge.provenance import Provenance
from gradsan.judge.residuals import Residual, residuals
from gradsan.record.events import Op, ParamId

if TYPE_CHECKING:
    from gradsan.judge.history import History


class SoftValue(NamedTuple):
    target: Op
    fit: Op  # the difference from what is fitted to it
    own: Op  # what fits the critics
    pids: set[ParamId]  # of the critics
    fitted: set[ParamId]


def soft_values(history: History, contribution: Contribution) -> Iterator[SoftValue]:
    graph, consumed = history.graph, contribution.consumed_pids()
    found = residuals(graph, [root.nid for root in contribution.event.roots]) if consumed else []
    for residual in found if len(found) > 1 else ():
        live = residual.live()
        scores = [t for t in live if "log_prob" in t.op.tags]
        for judge in live if scores and not graph.is_hidden(t.op.nid for t in live) else ():
            predicted = [t for t in live if t.sign == -judge.sign and t not in scores]
            pids, fitted = (_trained(graph, terms, consumed) for terms in ([judge], predicted))
            opposed = judge not in scores and any(score.sign == -judge.sign for score in scores)
            if not opposed or not pids or not fitted or pids & fitted:
                continue
            own = next((r for r in found if _fits(graph, r, pids, consumed)), None)
            if own is not None:
                target = _put_together(graph, residual, judge, scores, predicted)
                yield SoftValue(target, residual.op, own.op, pids, fitted)
                break


def _trained(graph: Provenance, terms: list[Term], consumed: set[ParamId]) -> set[ParamId]:
    return graph.live_params([t.op.nid for t in terms]) & consumed


def _fits(graph: Provenance, other: Residual, pids: set[ParamId], consumed: set[ParamId]) -> bool:
    """To numbers, and nothing but these critics."""
    live = other.live()
    made = _trained(graph, live, consumed)
    return bool(made & pids) and made <= pids and len({t.sign for t in live}) == 1 and bool(other.data())


def _put_together(
    graph: Provenance, residual: Residual, judge: Term, scores: list[Term], predicted: list[Term]
) -> Op:
    """The first sum of a critic and a log-probability in which the fitted value has no part."""
    wanted, apart = {t.op.nid for t in scores}, {t.op.nid for t in predicted}
    sums = graph.named(graph.live_ancestors([residual.op.nid]), ("add", "sub", "rsub"))
    for op in sorted(sums, key=lambda op: op.nid):
        inside = graph.live_ancestors([op.nid]).keys()
        if judge.op.nid in inside and not wanted.isdisjoint(inside) and apart.isdisjoint(inside):
            return op
    return residual.op
