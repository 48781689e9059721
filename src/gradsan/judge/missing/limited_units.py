"""Units of a layer that a constant limit cuts off for every sample, from the first forward on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradsan.record.events import Backward, Op, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History

STEPS = 5
LIMITING = {"clamp", "min", "max", "minimum", "maximum"}
LAYERS = {"linear", "matmul", "mm", "bmm", "addmm"}
PASSING = LIMITING | {"add", "sub", "mul", "div", "neg", "chunk", "split", "getitem"}
NOT_FROM_THE_START = -1


class LimitedUnits:
    """What gets beyond a limit while it learns may be meant, or may come back; what begins there cannot."""

    def __init__(self, history: History) -> None:
        self._graph = history.graph
        self._times: dict[tuple[Site, str], int] = {}  # backwards in a row

    def cut_off(self, event: Backward) -> Iterator[Op]:
        for op in self._graph.live_ancestors(root.nid for root in event.roots).values():
            if op.name not in LIMITING or len(op.shape) < 2:
                continue
            key, flat = (op.site, op.name), bool(op.facts.flat_units) and self._is_of_a_layer(op)
            times = self._times.get(key, 0)
            self._times[key] = times + 1 if flat and times >= 0 else NOT_FROM_THE_START
            if self._times[key] >= STEPS:
                yield op

    def _is_of_a_layer(self, op: Op) -> bool:
        """Whether its columns are the units of a layer, shifted or scaled."""
        while op.name in PASSING:
            live = [i for i in self._graph.inputs(op) if i.live]
            if len(live) != 1:
                return False
            op = live[0]
        return op.name in LAYERS
