"""Weights that no optimizer owns: did they move while nobody looked?

A target that is synced by hand (`t.data.copy_(p.data)`) passes no tap while the run is only counted, and its version
need not change. So a few numbers of each are compared, at every full look and at the end."""

from __future__ import annotations

import torch

from gradsan.observe.registry import Known
from gradsan.record.events import NOBODY, NOWHERE, Copy, ParamId, Sync

MOST = 128  # parameters
ENTRIES = 8
Entries = tuple[float, ...]


class StandingWeights:
    def __init__(self, known: Known) -> None:
        self._known = known
        self._entries: dict[ParamId, Entries] = {}
        self._looked = 0

    def look(self, iteration: int) -> Sync | None:
        """Those that are not as they were at the last look."""
        passed, self._looked = iteration - self._looked, iteration
        before, self._entries = self._entries, self._read()
        moved = [pid for pid, now in self._entries.items() if before.get(pid, now) != now]
        pairs = tuple(Copy(pid, NOBODY) for pid in moved)
        return Sync(NOWHERE, "moved", pairs, passed=passed) if moved else None

    def _read(self) -> dict[ParamId, Entries]:
        optimizers, leaves = self._known.optimizers, self._known.leaves
        owned = {id(param) for optimizer in optimizers.alive() for param in optimizers.params(optimizer)}
        standing = [(pid, p) for pid, p in leaves.parameters() if id(p) not in owned]
        return {pid: _entries(param) for pid, param in standing[:MOST]}


def _entries(param: torch.Tensor) -> Entries:
    if param.is_meta or param.is_sparse or not param.numel() or param.is_complex():
        return ()
    if not param.untyped_storage().nbytes():  # whoever shards it has freed it until its next use
        return ()
    flat = param.detach().reshape(-1) if param.is_contiguous() else param.detach().flatten()
    return tuple(flat[:: max(1, flat.numel() // ENTRIES)][:ENTRIES].tolist())
