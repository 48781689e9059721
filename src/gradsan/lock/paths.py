"""By which ways the gradient of a loss reaches parameters, and which values it takes as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from gradsan.judge.flow import JOINING, REDUCING, SELECTING, SHAPING, first_scalar
from gradsan.judge.provenance import Provenance, params_of
from gradsan.picture.reduction import cut_name
from gradsan.record.events import Op, ParamId, ValueId

MARKS = ("log_prob", "entropy", "kl_divergence", "rsample")
# Larger where what goes in is larger.
MONOTONE = SHAPING | SELECTING | REDUCING | JOINING | {
    "add", "min", "max", "minimum", "maximum", "amin", "amax", "clamp", "exp", "log", "relu", "clamp_min", "clamp_max",
    "log_softmax", "logsigmoid", "logsumexp", "sigmoid", "softplus", "sqrt", "tanh", "cumsum",
}  # fmt: skip
DISTANCES = {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "dist", "pairwise_distance", "cdist"}
MOST_WAYS = 16  # to one value

Box = Callable[[ParamId], ParamId]  # any parameter → the one that stands for its network


class GradientWay(NamedTuple):
    """From the loss down to a parameter. `sign`: whether the loss grows (1) or shrinks (-1) with what it meets first,
    a log-probability or the output of a network; 0 where that depends, and then `side` says on which side of a
    difference it stands. `via`: other networks on the way."""

    sign: int = 1
    side: int = 0
    marks: frozenset[str] = frozenset()
    via: frozenset[ParamId] = frozenset()
    met: bool = False

    def through(self, op: Op, position: int, graph: Provenance, box_of: Box) -> GradientWay:
        marks = self.marks.union(tag for tag in op.tags if tag in MARKS)
        via = self.via.union(box_of(p) for source in graph.inputs(op) for p in params_of(source))
        met = self.met or marks != self.marks or via != self.via
        if met:
            return GradientWay(self.sign, self.side, marks, via, met)
        direction = _direction(op, position)
        if self.sign == 0:
            return GradientWay(0, self.side * (direction or 1), marks, via, met)
        if direction == 0:
            return GradientWay(0, -1 if op.name in DISTANCES and position == 1 else 1, marks, via, met)
        return GradientWay(self.sign * direction, 0, marks, via, met)


def _direction(op: Op, position: int) -> int:
    if op.name in ("neg", "rsub") or (op.name == "sub" and position == 1):
        return -1 if op.name != "rsub" or position == 0 else 1
    if op.name == "sub" or op.name in MONOTONE:
        return -1 if op.name == "add" and position == 1 and op.facts.alpha < 0 else 1
    if op.name in ("mul", "div"):
        if len(op.inputs) == 1:
            return 1 if first_scalar(op) >= 0 else -1
        return 0 if op.name == "div" and position == 1 else 1
    return 0


def ways(graph: Provenance, roots: Iterable[ValueId], box_of: Box) -> dict[GradientWay, set[ParamId]]:
    """The ways of gradient to parameters, and which parameters each leads to. Values are counted upwards, so what a
    value goes into is met before the value itself."""
    live = graph.live_ancestors(roots)
    here: dict[ValueId, dict[GradientWay, None]] = {
        root: {GradientWay(): None} for root in roots if root in live
    }
    found: dict[GradientWay, set[ParamId]] = {}
    for nid in sorted(live, reverse=True):
        op, arrived = live[nid], here.pop(nid, {})
        for pid in params_of(op) if op.live else ():
            own = box_of(pid)
            for way in arrived:
                found.setdefault(way._replace(via=way.via - {own}, met=True), set()).add(pid)
        if params_of(op):
            continue
        for position, source in enumerate(op.inputs):
            if source in live and live[source].live:
                onward = here.setdefault(source, {})
                for way in arrived:
                    if len(onward) < MOST_WAYS:
                        onward[way.through(op, position, graph, box_of)] = None
    return found


def reaches_back(graph: Provenance, roots: Iterable[ValueId]) -> bool:
    """Whether gradient goes on into what an earlier iteration has computed."""
    live = [op for op in graph.live_ancestors(roots).values() if op.kind == "operation"]
    return len({graph.iteration_of[op.nid] for op in live}) > 1


def is_whole(graph: Provenance, roots: Iterable[ValueId]) -> bool:
    """Whether every operation that gradient passes through was traced: adaptive attention may begin in the middle."""
    live = graph.live_ancestors(roots)
    return not any(
        op.kind == "foreign" or any(nid not in graph.ops for nid in op.inputs) for op in live.values()
    )


def constants(graph: Provenance, ops: dict[ValueId, Op]) -> dict[str, set[ParamId]]:
    """Parameters that had a part in the value of the loss where no gradient comes back, by what stops it."""
    found: dict[str, set[ParamId]] = {}
    for op in ops.values():
        if op.live or op.kind != "operation":
            continue
        inputs = list(graph.inputs(op))
        if graph.is_cut(op):
            behind = graph.live_params([i.nid for i in inputs if i.live])
            found.setdefault(cut_name(op), set()).update(behind)
        frozen = {pid for i in inputs if not i.live for pid in params_of(i)}
        if frozen:
            found.setdefault("frozen", set()).update(frozen)
    return found
