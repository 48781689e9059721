"""Norms of gradients, weights and updates, taken at a bounded number of steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch

from gradsan.observe.registry import Leaves
from gradsan.observe.unseen import is_readable
from gradsan.record.events import LossValue, Magnitude, OptimizerId, Sample, Site

EVERY_STEP, SOME = 32, 8
DRAWN_WHOLE = 1_000  # updates
COPY_UP_TO = 65_536  # elements: the norm of an update needs the weights from before it


def norms_of(tensors: list[torch.Tensor | None]) -> list[float]:
    """All at once: one number per tensor, one look at the result."""
    dense = [t.coalesce().values() if t.is_sparse else t for t in tensors if t is not None]
    plain = [t.detach() for t in dense if t.numel() and not t.is_meta]
    if not plain:
        return [0.0] * len(tensors)
    if len(plain) != len(tensors) or any(t.is_complex() for t in plain):
        return [_norm(t) for t in tensors]
    each = torch._foreach_norm(plain)
    mixed = len({(n.dtype, n.device) for n in each}) > 1
    norms: list[float] = [float(n) for n in each] if mixed else torch.stack(each).tolist()
    if not all(map(math.isfinite, norms)):  # perhaps only their squares are not
        return [_norm(t) for t in tensors]
    # Nor is a norm of zero a gradient of zero: the squares of small numbers are.
    return [norm or _norm(t) for norm, t in zip(norms, tensors, strict=True)]


def _norm(tensor: torch.Tensor | None) -> float:
    if tensor is None or not tensor.numel() or tensor.is_meta:
        return 0.0
    dense = tensor.coalesce().values() if tensor.is_sparse else tensor
    return float(torch.linalg.vector_norm(dense.detach().abs(), dtype=torch.float64))


def for_rules(iteration: int) -> int:
    """The step to look at next: at first every one, then some, later about every hundredth part of the run so far."""
    return iteration + max(SOME, iteration // 128) if iteration >= EVERY_STEP else 0


def for_charts(iteration: int) -> int:
    """Every step of a run that is drawn whole, of a longer one ever fewer."""
    return iteration + max(1, iteration // (DRAWN_WHOLE // 4))


def has_dense_gradient(param: torch.Tensor) -> bool:
    """Whether there is a gradient whose norm can be taken."""
    grad = param.grad
    return grad is not None and is_readable(grad) and (grad.is_sparse or grad.layout is torch.strided)


class StepReading(NamedTuple):
    """What was taken just before a step, by that step alone: several threads may be stepping."""

    at: int
    params: list[torch.Tensor]
    grads: list[float]
    before: list[torch.Tensor | None]


class Magnitudes:
    def __init__(
        self, leaves: Leaves, now: Callable[[], int], following: Callable[[int], int] = for_rules
    ) -> None:
        self._leaves = leaves
        self.now = now
        self._following = following
        self._next: dict[OptimizerId, int] = {}
        self._losses: dict[Site, float] = {}
        self._clipped = 0.0

    def note_loss(self, site: Site, value: float) -> None:
        self._losses[site] = value

    def note_clipping(self, times: float) -> None:
        """How far above the limit the gradient was."""
        self._clipped = times

    def is_due(self, oid: OptimizerId) -> bool:
        return self.now() >= self._next.get(oid, 0)

    def before_step(self, params: list[torch.Tensor]) -> StepReading:
        copies = [p.detach().clone() if p.numel() <= COPY_UP_TO else None for p in params]
        return StepReading(self.now(), params, norms_of([p.grad for p in params]), copies)

    def after_step(self, oid: OptimizerId, taken: StepReading) -> Sample:
        weights = norms_of(list(taken.params))
        pairs = list(zip(taken.params, taken.before, strict=True))
        steps: list[torch.Tensor | None] = [p.detach() - b for p, b in pairs if b is not None]
        lengths = iter(norms_of(steps))
        moved = [-1.0 if b is None else next(lengths) for _, b in pairs]
        pids = self._leaves.pids(taken.params)
        rows = zip(pids, taken.grads, weights, moved, strict=True)
        sample = Sample(
            taken.at,
            oid,
            tuple(Magnitude(pid, _short(g), _short(w), _short(u)) for pid, g, w, u in rows),
            tuple(LossValue(site, _short(value)) for site, value in self._losses.copy().items()),
            _short(self._clipped),
        )
        self._losses.clear()
        self._clipped = 0.0
        self._next[oid] = self._following(taken.at)
        return sample


def _short(value: float) -> float:
    """Four digits are enough for a chart, and a trace of a million steps stays small."""
    return float(f"{value:.4g}") if math.isfinite(value) else value
