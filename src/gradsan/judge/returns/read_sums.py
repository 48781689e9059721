"""Weights of log-probabilities that a loop of plain Python or NumPy has summed up, in a world that nobody knows.

No tap sees the numbers on their way, and no environment tells what was paid. But the line on which they arrive leads to
the loop that has summed them up, and its source says which way it runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import prod

from gradsan.judge.history import History
from gradsan.judge.lines.arrival_lines import ARRIVING
from gradsan.judge.lines.callers import way_of
from gradsan.judge.lines.read_order import ReadOrder, read_order
from gradsan.judge.report.wording import line
from gradsan.judge.returns.misaligned import ENOUGH_UPDATES, Memory, Misaligned
from gradsan.judge.returns.number_order import NORMALISED
from gradsan.judge.returns.rollout_order import FEWEST_STEPS, TOGETHER, is_scored
from gradsan.record.events import Backward, BackwardId, Op, Site

TEXTS = {
    "the other way round": "goes through the steps from the last to the first, and what it has summed up is left in "
    "that order: each sum meets what was done at another step",
    "from the front": "runs from the first step to the last: each sum holds what came before its step, not what "
    "follows",
}
# Rows, by whoever takes those of all columns; and the sums of all episodes.
CHOSEN = {"getitem", "index_select", "unbind"} | TOGETHER | {"pad_sequence"}


class ReadSums:
    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory
        self._updates: dict[Site, set[BackwardId]] = defaultdict(set)

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        history = self._history
        if any(tally.right for tally in self._memory.tallies.values()):
            return  # the numbers tell that they are in order
        for op, arrived in self._weights(event):
            for site in way_of(history, arrived):
                seen = history.sites.get(site)
                read = read_order(seen.file, seen.line) if seen is not None else None
                if seen is None or read is None:
                    continue
                culprit = history.site_at(seen.file, read.line, read.function)
                self._updates[culprit].add(event.bid)
                if len(self._updates[culprit]) >= ENOUGH_UPDATES:
                    yield self._misaligned(event, op, arrived, read, culprit)
                break

    def _weights(self, event: Backward) -> Iterator[tuple[Op, Op]]:
        """Products of a log-probability and of numbers that came in from outside of torch."""
        graph = self._history.graph
        for op in graph.named(graph.live_ancestors(root.nid for root in event.roots), ("mul",)):
            sides = list(graph.inputs(op))
            weights, scores = [s for s in sides if not s.live], [s for s in sides if s.live]
            if len(sides) != 2 or len(weights) != 1 or not is_scored(self._history, scores[0]):
                continue
            arrived = self._arrived(weights[0])
            if arrived is not None and prod(arrived.shape) >= FEWEST_STEPS:
                yield op, arrived

    def _arrived(self, op: Op) -> Op | None:
        while op.name in NORMALISED | CHOSEN:
            source = next((i for i in self._history.graph.inputs(op) if i.floating and i.shape), None)
            if source is None:
                return None
            op = source
        return op if op.name in ARRIVING else None

    def _misaligned(self, event: Backward, op: Op, arrived: Op, read: ReadOrder, culprit: Site) -> Misaligned:
        return Misaligned(
            culprit,
            f"the loop that sums up what weighs the log-probability on {line(self._history, op.site)} "
            f"{TEXTS[read.order]}",
            [("sum", culprit), ("return", arrived.site), ("loss", op.site), ("backward", event.site)],
        )
