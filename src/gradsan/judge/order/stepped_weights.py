"""Whether what a backward found changed is a weight that a step has moved, though the forward went by unseen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.record.events import NOBODY, Backward, ParamId

if TYPE_CHECKING:
    from gradsan.judge.history import History


def stepped_weight(history: History, event: Backward) -> ParamId:
    """The weight; nobody, where the write itself is known, or nobody knows the step."""
    pid, changed = event.facts.stepped_weight, event.facts.changed
    return pid if pid and changed is None and history.params[pid].last_step else NOBODY
