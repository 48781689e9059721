"""A zero that requires grad, for a loss to begin with: `loss = torch.zeros(1, requires_grad=True)`. Backward always has
something to go to then, also where all that was added to it were plain numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge import flow
from gradsan.judge.lines.callers import NEW_TENSORS
from gradsan.record.events import Op, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

ADDING = {"add", "sub", "rsub"}


def standing_zeros(history: History, roots: list[ValueId]) -> list[Op]:
    """The leaves, if the gradient of these values goes to such only. The gradient of what is only added to is known
    without any backward: nobody asks for it. What something else is done with is there for its own sake."""
    graph = history.graph
    live = [op for op in graph.live_ancestors(roots).values() if op.live]
    leaves = [op for op in live if not any(i.live for i in graph.inputs(op))]
    if not leaves or not all(_is_bare(history, op) for op in leaves):
        return []
    ways = [op for op in live if op not in leaves]
    summands = {
        term.op.nid for op in ways if op.nid in roots for term in flow.terms(graph, op) if term.op.live
    }
    begun = {op.nid for op in leaves}
    added_to = all(_first_use(history, op, live) in ADDING for op in leaves)
    return leaves if ways and summands <= begun and added_to else []


def _is_bare(history: History, op: Op) -> bool:
    """Whether nobody has it but this loss: no optimizer, no update by hand."""
    if op.kind == "parameter":
        param, pid = history.params[op.facts.pid], op.facts.pid
        return param.kind == "leaf" and not history.owner_of(pid) and pid not in history.hand.trained
    return op.kind == "operation" and (op.name in NEW_TENSORS or op.name == "requires_grad_")


def _first_use(history: History, leaf: Op, live: list[Op]) -> str:
    """What is done with it first, however it is laid out; nothing, if there are several such things."""
    ways, here = {op.nid: op for op in live}, leaf
    while True:
        users = [ways[nid] for nid in set(history.graph.consumers.get(here.nid, ())) if nid in ways]
        if len(users) != 1:
            return ""
        here = users[0]
        if here.name not in flow.SHAPING:
            return here.name
