"""Choices that a policy has drawn before it was stepped: their old log-probabilities are not the present ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge.objective.scores import chooses

if TYPE_CHECKING:
    from gradsan.judge.history import History
    from gradsan.record.events import Op, ParamId


def moved_since_drawn(history: History, live: Op, learned: set[ParamId]) -> bool:
    """Whether the policy has drawn what it scores here, and was stepped after the last of these draws. Of choices that
    came from elsewhere, or left torch in between, nothing is known."""
    graph = history.graph
    draws = [op for op in graph.ancestors([live.nid]).values() if chooses(op)]
    newest = max((op.nid for op in draws if graph.value_params([op.nid]) & learned), default=None)
    stepped = max((history.params[pid].stepped_after for pid in learned), default=0)
    return newest is not None and newest < stepped
