"""Constants that can turn bad: the operations behind them that leave their domain at its edge.

A graph keeps what backward needs, so that a bad value in it is found in passing. What the graph takes as a constant
(a reward that a discriminator pays, a target, a weight) leaves no trace but itself; but it is made by the same
lines as when somebody looked.
"""

from __future__ import annotations

import math

from gradsan.judge.provenance import Provenance
from gradsan.record.events import Backward, BadValue, Op, Site, ValueId

# Of a finite number they can make an infinite one, or none.
EDGED = {
    "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "acos", "asin", "atanh", "acosh", "logit",
}  # fmt: skip
SPREAD = {"std", "var"}  # of one sample there is none
LOOKS = 2  # at the backward of one line
Lines = frozenset[tuple[Site, str]]  # where, and which operation
NONE: Lines = frozenset()


class DomainEdges:
    def __init__(self, graph: Provenance) -> None:
        self._graph = graph
        self._looked: dict[Site, int] = {}
        self._near: dict[Site, Lines] = {}  # behind the constants that a live operation on this line is given
        self._far: dict[Site, Lines] = {}  # or that what it is given was made of

    def look(self, event: Backward) -> None:
        if event.facts.untraced or self._looked.get(event.site, 0) >= LOOKS:
            return
        self._looked[event.site] = self._looked.get(event.site, 0) + 1
        within = self._graph.ancestors(root.nid for root in event.roots)
        behind: dict[ValueId, Lines] = {}
        for nid in sorted(within):
            op = within[nid]
            given = [(i, behind[i.nid]) for i in self._graph.inputs(op) if i.nid in behind]
            behind[nid] = NONE.union(*(lines for _, lines in given), self._own_edge(op))
            if op.live and op.site and behind[nid]:
                near = NONE.union(*(lines for i, lines in given if not i.live))
                self._near[op.site] = self._near.get(op.site, NONE) | near
                self._far[op.site] = self._far.get(op.site, NONE) | behind[nid]

    def behind(self, site: Site, what: BadValue | None) -> tuple[Site, str] | None:
        """The only line that can have made the bad constant which this operation was given."""
        if what is None or not what.given or all(map(math.isfinite, what.given)):
            return None
        lines = self._near.get(site) or self._far.get(site) or NONE
        # Divisions are many: they are to blame where there is nothing else.
        lines = frozenset(pair for pair in lines if pair[1] in EDGED) or lines
        return min(lines, key=lambda pair: pair[1]) if len({line for line, _ in lines}) == 1 else None

    def _own_edge(self, op: Op) -> Lines:
        """A live operation is part of the graph, and is found there."""
        if op.live or not op.site:
            return NONE
        bare = op.name == "div" and len(op.inputs) == 2 and not self._is_kept_off(op.inputs[1])
        return frozenset({(op.site, op.name)}) if bare or op.name in EDGED | SPREAD else NONE

    def _is_kept_off(self, divisor: ValueId) -> bool:
        """From zero: something is added to it, or it has a least value."""
        made = self._graph.get(divisor)
        return made is None or made.name in ("add", "clamp", "clamp_min", "maximum", "exp")
