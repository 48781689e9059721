"""Old log-probabilities that left torch one by one (`log_prob.item()`) and came back as a list: of which data they are
is not seen, but that every single one is a number of its own which the policy's present weights have said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge.flow import SELECTING, SHAPING, TAKEN_OUT, unshaped
from gradsan.judge.lines.arrival_lines import ARRIVING
from gradsan.judge.objective import scores
from gradsan.record.events import Op

if TYPE_CHECKING:
    from gradsan.judge.history import History

FEWEST = 8
HANDED_ON = SHAPING | SELECTING | TAKEN_OUT


def are_told_one_by_one(history: History, constant: Op) -> bool:
    """Whether every number of the list has left for itself: where a row was filled up, the others have not."""
    graph = history.graph
    arrived = unshaped(graph, constant, HANDED_ON - ARRIVING)
    numbers = set(arrived.facts.numbers) if arrived.name in ARRIVING else set()
    if len(numbers) < FEWEST:
        return False
    told = [op for op in graph.inputs(arrived) if scores.reads(history, scores.scoring(graph, op))]
    return numbers <= {number for op in told for number in op.facts.numbers}
