"""How a gradient changes on its way back through a loop: the steps of a recurrence, the layers of a stack.

Lines that run many times in one graph are looked at in four places only, at their first and last run and in between:
does what arrives there grow from step to step, or does it not?"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch

from gradsan.observe.graphs.graph import Label
from gradsan.record.events import GradientGrowth, Site

LEAST_STEPS = 8
RUNGS = 4
BACKWARDS = 24  # of each line that are looked at
PRODUCTS = ("Addmm", "Mm", "Bmm", "Baddbmm", "Mv", "Addmv")
Hooked = Callable[[Any], Any]


class GradientLadders:
    def __init__(self) -> None:
        self._looked: Counter[int] = Counter()

    def of(self, token: int, named: dict[Any, Label]) -> GradientLadder | None:
        """For one backward; none where this line has been looked at often enough, or nothing is run many times."""
        if self._looked[token] >= BACKWARDS:
            return None
        self._looked[token] += 1
        by_line: dict[Site, dict[int, Any]] = {}
        for node, (nid, site) in named.items():
            if site and node.name().startswith(PRODUCTS):
                by_line.setdefault(site, {})[nid] = node
        site, nodes = max(by_line.items(), key=lambda item: len(item[1]), default=(Site(0), {}))
        return GradientLadder(site, nodes) if len(nodes) >= LEAST_STEPS else None


class GradientLadder:
    def __init__(self, site: Site, nodes: dict[int, Any]) -> None:
        self._site, self._steps = site, len(nodes)
        newest_first = [nodes[nid] for nid in sorted(nodes, reverse=True)]
        chosen = [round(i * (self._steps - 1) / (RUNGS - 1)) for i in range(RUNGS)]
        self._rungs = [newest_first[i] for i in chosen]
        self._norms: dict[int, float] = {}

    def hooks(self) -> Iterator[tuple[Any, Hooked]]:
        for rung, node in enumerate(self._rungs):
            yield node, self._note(rung)

    def _note(self, rung: int) -> Hooked:
        def note(arriving: Any) -> None:
            if arriving[0] is not None:
                self._norms[rung] = float(torch.linalg.vector_norm(arriving[0].detach()))

        return note

    def growth(self) -> GradientGrowth | None:
        norms = [self._norms[rung] for rung in sorted(self._norms)]
        if len(norms) < RUNGS or not norms[0] > 0.0:
            return None
        steady = all(later > 2.0 * earlier for earlier, later in itertools.pairwise(norms))
        return GradientGrowth(self._site, self._steps, norms[-1] / norms[0]) if steady else None
