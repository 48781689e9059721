"""Weights of single samples that come too late: `(weights * mse_loss(q, y)).mean()`. The loss has averaged over the
batch by then, so every weight multiplies the same number, and only their mean counts."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gradsan.judge.flow import REDUCING, SHAPING, unshaped
from gradsan.judge.history import History
from gradsan.judge.objective.weighed import is_score
from gradsan.judge.residuals import LIBRARY_LOSSES
from gradsan.judge.shapes.meetings import Meeting
from gradsan.record.events import Op, ValueId


def late_weights(history: History, within: dict[ValueId, Op]) -> Iterator[Meeting]:
    """Products of an average over the batch with one constant number for each of its samples."""
    graph = history.graph
    for op in graph.named(within, {"mul"}):
        sides = list(graph.inputs(op))
        totals = [side for side in sides if side.live and math.prod(side.shape) == 1]
        weights = [side for side in sides if not side.live and side.floating and math.prod(side.shape) > 1]
        if len(sides) != 2 or not totals or not weights:
            continue
        total = unshaped(graph, totals[0], SHAPING | {"neg"})
        # Scores of one episode may be summed up and weighed with what the episode brought.
        if _averaged(history, total) == math.prod(weights[0].shape) and not is_score(history, total):
            yield Meeting(op, weights[0], total, None)


def _averaged(history: History, total: Op) -> int:
    """How many samples were made one number."""
    given = next(history.graph.inputs(total), None)
    folds = total.name in REDUCING or total.name in LIBRARY_LOSSES
    return given.shape[0] if folds and given is not None and given.shape else 0
