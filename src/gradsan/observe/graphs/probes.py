"""Probes: what flows into the values that mean something, in the user's own backward.

For the length of one backward a hook stands before the node of each such value and reads what arrives there: signs,
extremes, how the derivatives of two values go together. It gives nothing back, keeps no tensor and draws no number."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from gradsan.observe.containment import Containment
from gradsan.observe.graphs.graph import KEY, Label
from gradsan.observe.ops.meaning import Marks, Meaning
from gradsan.observe.ops.values import Tensor
from gradsan.record.events import Probe, ProbeKind, ProbePair, ValueId

MOST = 48  # probes at one backward
SAMPLES = 4096  # elements that are compared with those of another value
FEW = 6  # samples: below, a correlation says nothing
KEPT = 8  # sets of derivatives that wait for the backward of another loss

KINDS: dict[Meaning, ProbeKind] = {
    "entropy": "entropy", "negative entropy": "negative entropy", "log-prob": "log-prob", "surprise": "log-prob",
    "minimum": "minimum", "maximum": "maximum",
}  # fmt: skip
# What keeps a sum a sum, or chooses among values; and what a loss fits a prediction with.
LINEAR = (
    "Mean", "Sum", "Neg", "Add", "Sub", "Rsub", "Mul", "Div", "Squeeze", "Unsqueeze", "View", "Reshape", "Minimum",
    "Maximum", "Min", "Amin", "Select", "Slice", "Index", "Expand", "T0", "Transpose", "Permute", "ToCopy", "Clone",
    "UnsafeView", "AsStrided", "Where", "Gather", "Clamp",
)  # fmt: skip
GATHERING = ("Stack", "Cat")
FITTING = ("Pow", "MseLoss", "SmoothL1Loss", "HuberLoss", "Abs", "L1Loss")
OUTPUTS = ("Addmm", "Mm", "Mv", "Bmm", "Baddbmm", "Linear", "Dot")


class _Read(NamedTuple):
    nid: ValueId
    kind: ProbeKind
    derivatives: list[float]


class Probes:
    """Of one session: with what waits to be compared with the next backward."""

    def __init__(self, containment: Containment) -> None:
        self._containment = containment
        self._waiting: deque[_Read] = deque(maxlen=KEPT)

    def watch(self, roots: tuple[Tensor, ...], named: dict[Any, Label], marks: Marks) -> ProbeWatcher | None:
        if not marks.active:
            return None
        chosen: dict[Any, tuple[ValueId, ProbeKind, int]] = {}
        for node, (nid, _) in named.items():
            mark = marks.of(nid) if nid else None
            if mark is None or mark.inner or (kind := KINDS.get(mark.meaning)) is None:
                continue
            if KEY in node.metadata:  # else one of several nodes behind one call
                chosen[node] = nid, kind, -1 if mark.meaning == "surprise" else 1
        for node, kind in _outputs(roots, marks.scores):
            if node not in chosen and node in named and named[node][0]:
                chosen[node] = named[node][0], kind, 1
        return ProbeWatcher(self._containment, chosen, self._waiting) if chosen else None


class ProbeWatcher:
    def __init__(
        self,
        containment: Containment,
        chosen: dict[Any, tuple[ValueId, ProbeKind, int]],
        waiting: deque[_Read],
    ) -> None:
        self._contain = containment.contain
        self._waiting = waiting
        self._probes: list[Probe] = []
        self._read: list[_Read] = []
        self._handles = [
            node.register_prehook(self._hook(*what)) for node, what in list(chosen.items())[:MOST]
        ]

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()

    def _hook(self, nid: ValueId, kind: ProbeKind, sign: int) -> Any:
        def hook(gradients: Any) -> None:
            self._contain("probes", self._look, gradients, nid, kind, sign)

        return hook

    def _look(self, gradients: Any, nid: ValueId, kind: ProbeKind, sign: int) -> None:
        if len(gradients) != 1 or gradients[0] is None:
            return
        arrived = gradients[0].detach()
        if arrived.layout != torch.strided or not arrived.dtype.is_floating_point or not arrived.numel():
            return
        arrived = arrived.float() if sign > 0 else -arrived.float()
        low, high = (float(x) for x in torch.aminmax(arrived))
        if not math.isfinite(low) or not math.isfinite(high):
            return
        count, positive, negative = arrived.numel(), 0, 0
        if low >= 0.0 or high <= 0.0:  # one sign: counting what is not zero is enough
            some = int(torch.count_nonzero(arrived)) if low != high else count * (low != 0.0)
            positive, negative = (some, 0) if high > 0.0 else (0, some)
        else:
            positive, negative = int((arrived > 0).sum()), int((arrived < 0).sum())
        if kind != "output" or not (positive and negative):  # logits get both signs, and nobody asks
            least = _least(arrived, low, high, positive + negative) if kind == "log-prob" else 0.0
            ends = _short(low), _short(high), _short(least)
            self._probes.append(Probe(nid, kind, count, positive, negative, *ends))
        if kind in ("log-prob", "prediction") and count <= SAMPLES:
            self._read.append(_Read(nid, kind, arrived.flatten().tolist()))

    def results(self) -> tuple[tuple[Probe, ...], tuple[ProbePair, ...]]:
        pairs = list(self._pairs())
        probes, self._probes, self._read = tuple(self._probes), [], []
        return probes, tuple(pairs)

    def _pairs(self) -> Iterator[ProbePair]:
        """Of this backward; or with one before, for many a script has a backward for each loss."""
        scores = [read for read in self._read if read.kind == "log-prob"]
        predictions = [read for read in self._read if read.kind == "prediction"]
        if scores and predictions:
            self._waiting.clear()
            for score in scores:
                yield from (_pair(score, other) for other in predictions if _fit(score, other))
            return
        for one in self._read:
            partner = next((r for r in reversed(self._waiting) if r.kind != one.kind and _fit(one, r)), None)
            if partner is None:
                self._waiting.append(one)
            else:
                self._waiting.remove(partner)
                yield _pair(one, partner) if one.kind == "log-prob" else _pair(partner, one)


def _fit(one: _Read, other: _Read) -> bool:
    return len(one.derivatives) == len(other.derivatives)


def _pair(score: _Read, prediction: _Read) -> ProbePair:
    agreement = round(_agreement(score.derivatives, prediction.derivatives), 3)
    return ProbePair(score.nid, prediction.nid, len(score.derivatives), agreement)


def _least(arrived: torch.Tensor, low: float, high: float, some: int) -> float:
    """Of the derivatives that are not zero, the magnitude of the smallest."""
    if some == arrived.numel() and low * high > 0.0:
        return min(abs(low), abs(high))
    sizes = arrived.abs()
    return float(sizes[sizes > 0.0].min()) if some else 0.0


def _short(number: float) -> float:
    return float(f"{number:.4g}")


def _agreement(one: list[float], other: list[float]) -> float:
    """The correlation; the cosine of what there is too little of."""
    if len(one) >= FEW:
        mean, other_mean = math.fsum(one) / len(one), math.fsum(other) / len(other)
        one, other = [x - mean for x in one], [x - other_mean for x in other]
    size = math.sqrt(math.fsum(x * x for x in one) * math.fsum(x * x for x in other))
    return math.fsum(x * y for x, y in zip(one, other, strict=True)) / size if size else 0.0


def _outputs(roots: tuple[Tensor, ...], with_predictions: bool) -> Iterator[tuple[Any, ProbeKind]]:
    """The outputs of networks that enter the loss linearly, and (where there are log-probabilities to compare
    them with) those that it fits to something."""
    stack: list[tuple[Any, ProbeKind]] = [
        (root.grad_fn, "output") for root in roots if root.grad_fn is not None
    ]
    seen: set[tuple[Any, ProbeKind]] = set()
    while stack and len(seen) < 400:
        node, kind = item = stack.pop()
        if item in seen:
            continue
        seen.add(item)
        name = node.name()
        if name.startswith(OUTPUTS) or (kind == "prediction" and name.startswith(GATHERING)):
            yield item
        elif name.startswith(FITTING):
            if with_predictions:
                stack.extend((child, "prediction") for child, _ in node.next_functions if child is not None)
        elif name.startswith(LINEAR) or name.startswith(GATHERING):
            stack.extend((child, kind) for child, _ in node.next_functions if child is not None)
