"""Scores of actions, or their values, that a rectifier has cut off at zero before one of them is chosen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.shapes.axes import RESHAPING, onward
from gradsan.record.events import Backward, Op, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

RECTIFYING = {"relu", "clamp", "clamp_min", "threshold"}
LOGARITHMS = {"log", "log_softmax", "logsumexp"}
ALONG = RESHAPING | LOGARITHMS | {
    "softmax", "div", "mul", "sub", "add", "clamp", "masked_fill", "where", "broadcast_tensors", "stack", "cat",
}  # fmt: skip
PICKING = {"gather", "getitem", "nll_loss"}
STEPS = 5
SHARE = {
    "scores": 0.25,
    "values": 0.5,
    "": 2.0,
}  # values may be known to be positive, and a few of them too low


class Rectified(NamedTuple):
    op: Op
    share: float
    of: str


class RectifiedOutputs:
    def __init__(self, history: History) -> None:
        self._history = history
        self._times: dict[Site, int] = {}  # backwards in a row

    def found(self, event: Backward) -> Iterator[Rectified]:
        """Where so much of the gradient ends there in every one of the first backwards."""
        graph = self._history.graph
        within = graph.live_ancestors(root.nid for root in event.roots)
        ended: dict[Site, list[tuple[Op, float]]] = {}
        for seen in event.facts.flat:
            op = within.get(seen.value)
            if op is not None and _is_rectifier(op):
                ended.setdefault(op.site, []).append((op, seen.share))
        for site, passes in ended.items():
            first = passes[0][0]
            alike = [
                o for o in graph.named(within, (first.name,)) if (o.site, o.shape) == (site, first.shape)
            ]
            share = sum(part for _, part in passes) / len(alike)
            of = self._chosen(first, within)
            self._times[site] = self._times.get(site, 0) + 1 if share >= SHARE[of] else 0
            if self._times[site] >= STEPS:
                yield Rectified(first, share, of)

    def _chosen(self, op: Op, within: dict[ValueId, Op]) -> str:
        """A policy's scores, where the logarithm of one is picked; a critic's values, where one is picked as it is."""
        stack, seen = [(op, False)], {op.nid}
        while stack:
            value, scored = stack.pop()
            for user in onward(self._history.graph, value, within):
                made_of = {user.name, *(i.name for i in self._history.graph.inputs(user))}
                logarithm = scored or bool(made_of & LOGARITHMS)  # `x - x.logsumexp(-1)` is one, too
                if user.name == "cross_entropy" or (user.name in PICKING and logarithm):
                    return "scores"
                if user.name == "gather":
                    return "values" if value.nid == op.nid else ""
                if user.nid not in seen and user.name in ALONG:
                    seen.add(user.nid)
                    stack.append((user, logarithm))
        return ""


def _is_rectifier(op: Op) -> bool:
    return op.name in RECTIFYING and (op.name != "clamp" or op.facts.scalars == (0.0,))
