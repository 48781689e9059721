"""Values that leave torch, are changed outside of it, and come back as other numbers.

What comes back unchanged is known again by its value. Of what NumPy has scaled or subtracted nobody can tell where it
came from; but where a summand of the loss is made of plain numbers, while a network that is stepped and never gets a
gradient was asked for this very loss and its answers went nowhere but out of torch, that is where they were lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge import flow
from gradsan.judge.missing.stacked_losses import summands_of
from gradsan.record.events import Op, ParamId, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History
    from gradsan.judge.ledger import Contribution
    from gradsan.judge.provenance import Provenance

LEAVING = {"item", "float", "numpy", "array", "tolist"}
STEPS = 5  # without any gradient: a policy that waits for its turn is stepped in between


def exported(history: History, contribution: Contribution) -> tuple[Op, set[ParamId]] | None:
    """The cut behind which the values left."""
    hungry = _hungry(history)
    if not hungry:
        return None
    graph = history.graph
    roots = [op for root in contribution.event.roots if (op := graph.get(root.nid)) is not None]
    numbers = [t.op for op in roots for t in summands_of(graph, op) if of_numbers(graph, t.op)]
    if not numbers or graph.value_params(op.nid for op in roots) & hungry:
        return None
    return _last_cut(graph, max(op.nid for op in numbers), graph.iteration_of[roots[0].nid], hungry)


def of_numbers(graph: Provenance, op: Op) -> bool:
    """A summand that is a constant made of data alone; or the score of such data, whatever it is weighed with."""
    if op.live or not op.floating:
        return False
    within = graph.ancestors([op.nid])
    if not graph.value_params([op.nid]):
        return op.kind != "data" and any(o.shape or _is_score(o) for o in within.values())
    return any(
        _is_score(factor) and not graph.value_params([factor.nid])
        for product in graph.named(within, {"mul"})
        for factor in graph.inputs(product)
    )


def weighs_numbers(graph: Provenance, term: Op, cut: Op) -> bool:
    """Whether the cut only weighs a score that is made of data: the weight is a constant by right."""
    for product in graph.named(graph.ancestors([term.nid]), {"mul"}):
        sides = list(graph.inputs(product))
        scores = [s for s in sides if _is_score(s) and not graph.value_params([s.nid])]
        if scores and any(cut.nid in graph.ancestors([s.nid]) for s in sides if s not in scores):
            return True
    return False


def _is_score(op: Op) -> bool:
    return "log_prob" in op.tags


def _hungry(history: History) -> set[ParamId]:
    """What an optimizer has stepped on again and again, without any gradient."""
    return {
        pid
        for optimizer in history.optimizers.values()
        if optimizer.steps >= STEPS and not optimizer.had_gradient
        for pid in optimizer.params
        if history.params[pid].requires_grad
        and pid not in history.ever_fed
        and pid not in history.explained
        and not history.networks.is_target(pid)
        and not history.uncalled("backward", optimizer.last_step)
    }


def _last_cut(
    graph: Provenance, before: ValueId, iteration: int, hungry: set[ParamId]
) -> tuple[Op, set[ParamId]] | None:
    left = [
        op
        for op in graph.ops.values()
        if op.name in LEAVING and op.nid < before and op.floating and graph.iteration_of[op.nid] == iteration
    ]
    for op in sorted(left, reverse=True):
        for cut, pids in flow.cuts_behind(graph, [op.nid]).values():
            if pids & hungry and not flow.is_choice(graph, cut):
                return cut, pids & hungry
    return None
