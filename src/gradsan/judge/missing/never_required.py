"""What a loss is made of and cannot teach: frozen before it ever got a gradient, or never made to require one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.record.events import NOWHERE, ParamId, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History


def untrained(history: History, roots: list[ValueId], traced: bool) -> list[ParamId]:
    """What an optimizer owns all the same: of this loss, or of all networks where nobody saw what it is made of."""
    behind = history.graph.value_params(roots) if traced else set(history.params)
    still = {p for p in behind - history.ever_fed if not history.params[p].requires_grad}
    found = {p for p in still if history.params[p].frozen_at or (traced and never_required(history, p))}
    return [p for p in sorted(found) if history.can_be_stepped(p)]


def never_required(history: History, pid: ParamId) -> bool:
    """A plain tensor that an optimizer was given, and that nobody has made require a gradient."""
    param = history.params[pid]
    return param.kind == "leaf" and not param.frozen_at and not param.thawed


def made_at(history: History, pid: ParamId) -> Site:
    """Where it was frozen, or such a tensor was made, or given to its optimizer."""
    param = history.params[pid]
    if param.frozen_at or not never_required(history, pid):
        return param.frozen_at
    return param.created or next((o.site for o in history.owner_of(pid)), NOWHERE)
