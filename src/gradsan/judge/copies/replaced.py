"""Telling a network that was put in another's place from one that was forgotten."""

from __future__ import annotations

from collections import Counter

from gradsan.judge.history import History, Optimizer
from gradsan.record.events import ParamId


def left_behind(history: History, optimizer: Optimizer, newcomers: set[ParamId]) -> set[ParamId]:
    """Parameters of this optimizer that nothing has fed since the newcomers, which look like them and
    which nobody owns, were fed for the first time."""
    fed = fed_since(history, newcomers)
    idle = [pid for pid in optimizer.params if pid not in fed and pid not in history.handed]
    idle = [pid for pid in idle if not history.networks.is_target(pid)]  # follows, so it was not replaced
    wanted = Counter(history.params[pid].shape for pid in newcomers)
    offered = Counter(history.params[pid].shape for pid in idle)
    return set(idle) if idle and wanted <= offered else set()


def fed_since(history: History, newcomers: set[ParamId]) -> set[ParamId]:
    """What got a gradient since these did for the first time."""
    recent = history.ledger.recent.values()
    first = min((c.bid for c in recent if newcomers & set(c.event.fed)), default=0)
    return {pid for c in recent if c.bid >= first for pid in c.event.fed}
