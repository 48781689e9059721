"""Entropies and log-densities of a normal distribution that were written by hand, known by their constants.

½ log 2π and ½ log 2πe, once for every dimension, are added to nothing else: `log_std + 0.5 * log(2 * pi * e)` is an
entropy, and what has ½ log 2π taken off is a log-density."""

from __future__ import annotations

import math
from typing import Literal

from gradsan.record.events import ValueId

DENSITY = 0.5 * math.log(2 * math.pi)
ENTROPY = DENSITY + 0.5
MOST_DIMENSIONS = 64
PRECISION = 1e-5
ADDING = {"add", "sub", "rsub"}
SCALING = {"mul"}
KEPT = 4_096

Written = Literal["entropy", "log-prob", "surprise"]


class NormalConstants:
    """What has been added to a value so far, and what it was scaled by before its logarithm was taken."""

    def __init__(self) -> None:
        self._added: dict[ValueId, float] = {}
        self._scaled: dict[ValueId, float] = {}

    def made(self, nid: ValueId, name: str, source: ValueId, scalars: tuple[float, ...]) -> Written | None:
        if name == "log":
            scale = self._scaled.get(source, 0.0)
            if scale > 0.0:
                self._added[nid] = math.log(scale)
                return "entropy" if _is_multiple(self._added[nid], ENTROPY) else None
        elif len(scalars) == 1:
            if name in SCALING:
                self._scaled[nid] = scalars[0]
            elif name in ADDING:
                return self._shifted(nid, -scalars[0] if name == "sub" else scalars[0], source)
        return None

    def _shifted(self, nid: ValueId, by: float, source: ValueId) -> Written | None:
        added = self._added[nid] = self._added.get(source, 0.0) + by
        if _is_multiple(added, ENTROPY):
            return "entropy"
        if _is_multiple(-added, DENSITY):
            return "log-prob"
        return "surprise" if _is_multiple(added, DENSITY) else None

    def forget(self) -> None:
        for table in (self._added, self._scaled):
            if len(table) > KEPT:
                table.clear()


def _is_multiple(number: float, unit: float) -> bool:
    times = round(number / unit) if math.isfinite(number) else 0
    return 1 <= times <= MOST_DIMENSIONS and abs(number - times * unit) <= PRECISION * number
