"""One batch that is cut into micro-batches otherwise each time, and each micro-batch weighs as much as the others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.order.token_weights import scaled
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, Site

if TYPE_CHECKING:
    from gradsan.judge.ledger import Contribution

WINDOWS, CUTS = 3, 2
DIVIDED = 0.5
DEEP = 16  # operations between a loss and its mean


class Mean(NamedTuple):
    """A mean over all there is, of so many rows, and what it counts in the loss."""

    site: Site
    rows: int
    weight: float


class PackedRows:
    def __init__(self) -> None:
        self._cuts: dict[Site, list[tuple[int, ...]]] = {}

    def window(self, graph: Provenance, parts: list[Contribution]) -> tuple[Site, tuple[int, ...]] | None:
        """Where the means of these micro-batches are taken, and over how many rows each: where the same batch was cut
        otherwise before. Rows that are always cut alike may be the design."""
        roots = [graph.get(part.event.roots[0].nid) for part in parts]
        means = [mean for root in roots if root is not None and (mean := _mean(graph, root)) is not None]
        if len(means) != len(parts) or len({mean.site for mean in means}) > 1:
            return None
        # Divided by a number, as a window's mean is: by that of its micro-batches, or by what a configuration says.
        if not all(math.isclose(mean.weight, means[0].weight, rel_tol=1e-3) for mean in means):
            return None
        if abs(means[0].weight) > DIVIDED:
            return None
        site, cut = means[0].site, tuple(mean.rows for mean in means)
        cuts = self._cuts.setdefault(site, [])
        cuts.append(cut)
        one_batch = len({sum(each) for each in cuts}) == 1
        cut_anew = len({tuple(sorted(each)) for each in cuts}) >= CUTS and len(cuts) >= WINDOWS
        return (site, cut) if one_batch and cut_anew and len(set(cut)) > 1 else None


def _mean(graph: Provenance, root: Op) -> Mean | None:
    op, weight = root, 1.0
    for _ in range(DEEP):
        live = [source for source in graph.inputs(op) if source.live]
        if len(live) != 1:
            return None
        if op.name == "mean" and math.prod(op.shape) == 1 and live[0].shape:
            return Mean(op.site, live[0].shape[0], weight)
        if op.name == "neg":
            op = live[0]
            continue
        found = scaled(op, weight, ()) if op.name in ("mul", "div") else None
        if found is None:
            return None
        op, weight = live[0], found[0]
    return None
