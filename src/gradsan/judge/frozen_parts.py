"""Networks that were frozen and left out of the optimizer, and have a loss of their own all the same.

A frozen part is legal: gradients pass through it to what is trained. Where nothing that is trained lies behind it, its
loss is a constant that somebody took the trouble to compare with a target."""

from __future__ import annotations

from gradsan.judge.cuts import Cut
from gradsan.judge.history import History
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
