"""Two networks that only learn to agree: a squared difference of what both say about the same data, in which both are
trained and nothing else is given. Whatever they settle on is right, so they settle on what is easiest; the random
network of a novelty bonus that its predictor's optimizer owns, too, is the usual case.

Where one of them learns from anything else as well (a reconstruction, a return), that holds both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.ledger import Contribution
from gradsan.judge.provenance import params_of
from gradsan.judge.residuals import LOGISTIC, Residual, residuals
from gradsan.record.events import Op, ParamId, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History


class Agreement(NamedTuple):
    difference: Op
    given: set[
        ParamId
    ]  # the network that stands for the target: behind a minus, or the second of a loss's two
    learning: set[ParamId]


def agreement(history: History, contribution: Contribution) -> Agreement | None:
    graph, roots = history.graph, [root.nid for root in contribution.event.roots]
    if graph.is_hidden(roots):
        return None
    for residual in residuals(graph, roots):
        learning, given = (_side(history, residual, sign) for sign in (1, -1))
        if not learning or not given or learning & given or residual.data() or residual.op.name in LOGISTIC:
            continue
        both = learning | given
        held = not both <= contribution.consumed_pids() or both & _taught_past(history, roots, residual.op)
        if not held and _see_the_same(history, residual):
            return Agreement(residual.op, given, learning)
    return None


def _side(history: History, residual: Residual, sign: int) -> set[ParamId]:
    return history.graph.live_params([t.op.nid for t in residual.live() if t.sign == sign])


def _see_the_same(history: History, residual: Residual) -> bool:
    """Whether both sides were computed from one and the same data."""
    graph, seen = history.graph, []
    for sign in (1, -1):
        made = graph.live_ancestors([t.op.nid for t in residual.live() if t.sign == sign])
        given = (source for op in made.values() for source in graph.inputs(op))
        seen.append({source.nid for source in given if not source.live and source.floating})
    return bool(seen[0] & seen[1])


def _taught_past(history: History, roots: list[ValueId], difference: Op) -> set[ParamId]:
    """What the loss trains by another way than through the difference."""
    graph = history.graph
    past = graph.ancestors(roots, lambda op, source: op.live and source.live and source.nid != difference.nid)
    return {pid for op in past.values() if op.nid != difference.nid for pid in params_of(op)}
