"""Norms of gradients, weights and updates, taken at a bounded number of steps."""

from __future__ import annotations

import math

import torch

from gradsan.observe.registry import Leaves
from gradsan.record.events import Sample, Site

EVERY_STEP = (
    32  # at first every step is sampled; then some, later about every hundredth part of the run so far
)
SOME = 8
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
    return norms


def _norm(tensor: torch.Tensor | None) -> float:
    if tensor is None or not tensor.numel() or tensor.is_meta:
        return 0.0
    dense = tensor.coalesce().values() if tensor.is_sparse else tensor
    return float(torch.linalg.vector_norm(dense.detach().abs(), dtype=torch.float64))


class Magnitudes:
    def __init__(self, leaves: Leaves, for_charts: bool = False) -> None:
        self._leaves = leaves
        self._for_charts = for_charts
        self._next: dict[int, int] = {}
        self._before: list[torch.Tensor | None] = []
        self._grads: list[float] = []
        self.losses: dict[Site, float] = {}
        self.clipped = 0.0

    def is_due(self, oid: int, iteration: int) -> bool:
        return iteration >= self._next.get(oid, 0)

    def before_step(self, params: list[torch.Tensor]) -> None:
        self._grads = norms_of([p.grad for p in params])
        self._before = [p.detach().clone() if p.numel() <= COPY_UP_TO else None for p in params]

    def after_step(self, oid: int, params: list[torch.Tensor], iteration: int) -> Sample:
        weights = norms_of(list(params))
        moved = self._moved(params)
        pids = self._leaves.pids(params)
        rows = zip(pids, self._grads, weights, moved, strict=True)
        sample = Sample(
            iteration,
            oid,
            tuple((pid, _short(g), _short(w), _short(u)) for pid, g, w, u in rows),
            tuple((site, _short(value)) for site, value in self.losses.items()),
            _short(self.clipped),
            self._for_charts,
        )
        self._before = []
        self.losses.clear()
        self.clipped = 0.0
        self._next[oid] = self._after(iteration)
        return sample

    def _moved(self, params: list[torch.Tensor]) -> list[float]:
        return [
            _norm(p.detach() - b) if b is not None else -1.0
            for p, b in zip(params, self._before, strict=True)
        ]

    def _after(self, iteration: int) -> int:
        return iteration + max(SOME, iteration // 128) if iteration >= EVERY_STEP else 0


class ChartMagnitudes(Magnitudes):
    """The steps between those samples, for whoever draws charts: a run of less than DRAWN_WHOLE updates step by
    step, a longer one ever more rarely. Taken in passing, too, so it is off unless somebody draws."""

    def __init__(self, leaves: Leaves) -> None:
        super().__init__(leaves, for_charts=True)
        self.on = False
        self._kept: list[int] = []  # the parameters that are small enough to be copied

    def before_step(self, params: list[torch.Tensor]) -> None:
        """As above, in as few calls as can be: this one is made a thousand times."""
        self._grads = norms_of([p.grad for p in params])
        self._kept = [n for n, p in enumerate(params) if p.numel() <= COPY_UP_TO]
        with torch.no_grad():
            self._before = list(torch._foreach_mul([params[n] for n in self._kept], 1)) if self._kept else []

    def _moved(self, params: list[torch.Tensor]) -> list[float]:
        moved = [-1.0] * len(params)
        if self._kept:
            with torch.no_grad():
                before = [b for b in self._before if b is not None]
                steps = torch._foreach_sub([params[n] for n in self._kept], before)
            for n, length in zip(self._kept, norms_of(list(steps)), strict=True):
                moved[n] = length
        return moved

    def _after(self, iteration: int) -> int:
        return iteration + max(1, iteration // (DRAWN_WHOLE // 4))


def _short(value: float) -> float:
    """Four digits are enough for a chart, and a trace of a million steps stays small."""
    return float(f"{value:.4g}") if math.isfinite(value) else value
