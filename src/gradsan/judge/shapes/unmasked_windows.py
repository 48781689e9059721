"""The same over several backwards: sums over all places go backward, the places that a mask leaves are counted on the
way, and the gradients are divided by their number before the step."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.flow import SHAPING
from gradsan.judge.objective.score_functions import sign_of_step
from gradsan.judge.shapes.unmasked_sums import leaves_places
from gradsan.record.events import NOTHING, Backward, Op, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History


class UnmaskedWindow(NamedTuple):
    total: Op  # the last of the sums
    counted: Op
    division: Op
    places: int
    kept: int


class UnmaskedWindows:
    def __init__(self, history: History) -> None:
        self._history = history
        self._totals: list[Op] = []
        self._since = NOTHING  # the newest value at the step before

    def went_backward(self, event: Backward) -> None:
        graph = self._history.graph
        for root in event.roots:
            op = graph.get(root.nid)
            while op is not None and op.name != "sum" and (op.name in SHAPING or sign_of_step(op)):
                op = graph.get(op.inputs[0]) if len(op.inputs) == 1 else None
            if op is not None and op.name == "sum" and op.live and op.facts.mask is not None:
                self._totals.append(op)

    def stepped(self) -> UnmaskedWindow | None:
        found = self._judge() if self._totals else None
        self._totals, self._since = [], self._history.graph.newest
        return found

    def _judge(self) -> UnmaskedWindow | None:
        graph = self._history.graph
        shapes = [given.shape for op in self._totals if (given := graph.get(op.inputs[0])) is not None]
        unmasked = all(op.facts.mask and op.facts.mask.low > 0.0 for op in self._totals)
        counts = [op for op in self._recent() if self._counts(op, set(shapes))]
        kept = sum(op.facts.mask.kept for op in counts if op.facts.mask is not None)
        division = next((op for op in self._recent() if self._divides(op, kept)), None)
        if division is None or not unmasked or not len(shapes) == len(counts) == len(self._totals):
            return None
        places = sum(prod(shape) for shape in shapes)
        return UnmaskedWindow(self._totals[-1], counts[-1], division, places, kept) if kept < places else None

    def _recent(self) -> Iterator[Op]:
        return (op for nid, op in self._history.graph.ops.items() if nid > self._since)

    def _counts(self, op: Op, shapes: set[tuple[int, ...]]) -> bool:
        mask, given = op.facts.mask, self._history.graph.get(op.inputs[0]) if op.inputs else None
        if (
            op.name != "sum"
            or op.live
            or op.shape
            or mask is None
            or given is None
            or given.shape not in shapes
        ):
            return False
        return mask.low == 0.0 and leaves_places(mask.tails, mask.kept / max(1, prod(given.shape)))

    def _divides(self, op: Op, count: int) -> bool:
        """A gradient by this number."""
        given = (
            self._history.graph.get(ValueId(op.inputs[0]))
            if op.name in ("div", "mul") and op.inputs
            else None
        )
        if given is None or given.kind != "gradient read" or len(op.facts.scalars) != 1 or not count:
            return False
        number = op.facts.scalars[0]
        return abs((number if op.name == "div" else 1.0 / (number or 1.0)) - count) <= 1e-6 * count
