"""Networks that were frozen and left out of the optimizer, and have a loss of their own all the same.

A frozen part is legal: gradients pass through it to what is trained. Where nothing that is trained lies behind it, its
loss is a constant that somebody took the trouble to compare with a target."""

from __future__ import annotations

from gradsan.judge import flow
from gradsan.judge.history import History
from gradsan.judge.ledger import Contribution
from gradsan.judge.missing.cuts import Cut
from gradsan.judge.residuals import LIBRARY_LOSSES
from gradsan.record.events import Op, ParamId, ValueId

BENDING = {"pow", "square", "abs"}


def frozen_behind(history: History, cut: Cut) -> list[ParamId]:
    """Of what was made of a value after it was cut off: the parts that were frozen before our eyes, belong to no
    optimizer, and end in a comparison with a target."""
    graph = history.graph
    stack, seen = [cut.op], set[ValueId]()
    compared, frozen = False, set[ParamId]()
    while stack:
        op = stack.pop()
        for nid in graph.consumers.get(op.nid, ()):
            user = graph.get(nid)
            if user is None or user.live or nid in seen:
                continue
            seen.add(nid)
            stack.append(user)
            compared = compared or _is_fitted(history, user)
            frozen |= {pid for pid in _weights(history, user) if _is_left_out(history, pid)}
    return sorted(frozen) if compared else []


def new_heads(history: History, contribution: Contribution) -> list[ParamId]:
    """Parts that were made anew and frozen together with the network before them, which was not: gradient passes
    through them to what is trained (adapters), and what they say is compared with a target. They stay as they were
    drawn. In a network that is new as a whole nobody can tell what was to be learned."""
    left_out = {pid for pid in history.networks.new if _is_left_out(history, pid)}
    graph, found = history.graph, set[ParamId]()
    if not left_out:
        return []
    within, trained = (
        graph.live_ancestors(r.nid for r in contribution.event.roots),
        contribution.consumed_pids(),
    )
    for op in within.values():
        own = _weights(history, op) & left_out
        given = [i.nid for i in graph.inputs(op) if i.live] if own else []
        if not given or not graph.live_params(given) & trained or not _is_compared(history, op, within):
            continue
        found |= {pid for pid in own if _was_frozen_with(history, pid, graph.value_params(given))}
    return sorted(found)


def _was_frozen_with(history: History, pid: ParamId, before: set[ParamId]) -> bool:
    """Whether the same freeze hit the network before it, and all of that was there already."""
    own = history.params[pid]
    others = [history.params[p] for p in before if _is_left_out(history, p)]
    swept = [p.pid for p in others if (p.frozen_at, p.frozen_by) == (own.frozen_at, own.frozen_by)]
    return bool(swept) and history.networks.new.isdisjoint(swept)


def _is_compared(history: History, op: Op, within: dict[ValueId, Op]) -> bool:
    """With a target, as it is but for its form."""
    graph, stack = history.graph, [op]
    while stack:
        value = stack.pop()
        if _is_fitted(history, value):
            return any(i.floating and not i.live for i in graph.inputs(value))
        if value is op or value.name in flow.SHAPING or value.name in flow.SELECTING:
            stack.extend(within[nid] for nid in graph.consumers.get(value.nid, ()) if nid in within)
    return False


def _is_fitted(history: History, op: Op) -> bool:
    """A prediction is compared with a target: not the score of a frozen judge, which is to be made large."""
    if op.name in LIBRARY_LOSSES:
        return True
    users = (history.graph.get(nid) for nid in history.graph.consumers.get(op.nid, ()))
    return op.name in ("sub", "rsub") and any(u is not None and u.name in BENDING for u in users)


def _weights(history: History, user: Op) -> set[ParamId]:
    found = (history.param_nodes.get(nid) for nid in user.inputs)
    return {read[0] for read in found if read is not None}


def _is_left_out(history: History, pid: ParamId) -> bool:
    param = history.params[pid]
    return bool(param.frozen_at) and not param.requires_grad and not history.owner_of(pid)
