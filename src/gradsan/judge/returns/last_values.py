"""Returns of several copies that all go on from the value of one of them: `critic(obs)[0]` where `critic(obs)` belongs.

One number broadcasts against the rewards of all copies, and nothing raises."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from gradsan.judge.history import History
from gradsan.judge.report.wording import value_at
from gradsan.judge.returns.carried_sums import CarriedSum, carried_sums
from gradsan.judge.returns.misaligned import Memory, Misaligned
from gradsan.judge.returns.rollout_order import reckoned_with
from gradsan.record.events import Backward, Op

PICKING = ("getitem", "select")


class LastValues:
    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        for found in carried_sums(self._history, event):
            picked = _picked(self._history, found)
            if picked is not None and self._memory.is_enough(picked.nid, picked.site):
                yield Misaligned(
                    picked.site,
                    f"the returns of all {found.last.shape[0]} copies, {len(found.steps) + 1} steps each, go on from "
                    f"{value_at(self._history, picked.site, 'a value')}, which is that of one of them",
                    [("value", picked.site), ("put together", found.joined.site), ("backward", event.site)],
                    fix="let each copy go on from its own last value",
                )


def _picked(history: History, found: CarriedSum) -> Op | None:
    """What the last step takes of as many values as there are copies."""
    graph, copies = history.graph, found.last.shape[0] if len(found.last.shape) == 1 else 0
    for op in reckoned_with(graph, found.last)[1] if copies > 1 else ():
        source = next(graph.inputs(op), None) if op.name in PICKING else None
        if source is None or prod(op.shape) != 1 or source.shape not in ((copies,), (copies, 1)):
            continue
        if graph.value_params([op.nid]):
            return op
    return None
