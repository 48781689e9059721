"""The lines of a graph that nobody traced: one of the same form, behind the same backward, was traced before.

A loss that turns bad after a million good ones does so in passing. Its graph is there to be looked at before
backward runs; only the lines that made it are not known, and those are the same as ever.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from gradsan.observe.graphs.graph import Label, operation_of
from gradsan.record.events import NOTHING, NOWHERE, Site, Suspect

ENOUGH = 50_000  # nodes of graphs that are remembered
# Operations with a finite result and, at the edge of their domain, an infinite derivative.
STEEP = (
    "Sqrt", "Pow", "Log", "Atanh", "Acos", "Asin", "Std", "Rsqrt", "Reciprocal", "Logit", "Div",
)  # fmt: skip


class LineRecall:
    def __init__(self) -> None:
        self._known: dict[int, dict[int, tuple[Site, ...]]] = {}
        self._sizes: set[tuple[int, int]] = set()  # to see in passing that a graph is probably known
        self._left = ENOUGH
        self._of_part: dict[int, Site] = {}  # what a node and all that lies behind it look like
        self.steep: dict[Suspect, None] = {}

    def know(self, backward: int, named: dict[Any, Label]) -> dict[Any, Label]:
        """The same labels, with the lines filled in where nothing of this graph was traced."""
        if not is_traced(named):
            sites = self._known.get(backward, {}).get(form_of(named))
            return dict(zip(named, ((NOTHING, site) for site in sites or self._by_parts(named)), strict=True))
        if (backward, len(named)) not in self._sizes and len(named) <= self._left:
            self._left -= len(named)
            self._sizes.add((backward, len(named)))
            self._known.setdefault(backward, {})[form_of(named)] = tuple([site for _, site in named.values()])
            self._remember_parts(named)
            self._remember_steep(named)
        return named

    def _by_parts(self, named: dict[Any, Label]) -> list[Site]:
        return [self._of_part.get(part, NOWHERE) for part in parts(named)]

    def _remember_parts(self, named: dict[Any, Label]) -> None:
        """For graphs that differ from all the known ones, and consist of known parts."""
        for part, (_, site) in zip(parts(named), named.values(), strict=True):
            known = self._of_part.setdefault(part, site)
            if known != site:
                self._of_part[part] = NOWHERE  # made on several lines: which, only the whole can tell

    def _remember_steep(self, named: dict[Any, Label]) -> None:
        for node, (_, site) in named.items():
            if site and _is_steep(node):
                self.steep[Suspect(operation_of(node.name()), site)] = None

    def suspects(self) -> tuple[Suspect, ...]:
        """Operations that can make a gradient infinite though the loss is finite, with their lines. Divisions
        are many, and named only where there is nothing else."""
        return tuple(one for one in self.steep if one.operation != "div") or tuple(self.steep)


def is_traced(named: dict[Any, Label]) -> bool:
    return any(nid for nid, _ in named.values())


def form_of(named: dict[Any, Label]) -> int:
    return hash(tuple([node.name() for node in named]))


def parts(nodes: Collection[Any]) -> list[int]:
    """For each node a number that stands for its operation, those behind it, and the leaves that they start from."""
    known: dict[Any, int] = {}
    # Whatever lies behind a node was made before it; leaves are numbered last, and have nothing behind them.
    for node in sorted(nodes, key=lambda node: node._sequence_nr() if node.next_functions else -1):
        behind = tuple([known.get(child, 0) for child, _ in node.next_functions])
        known[node] = hash((node.name(), behind, id(getattr(node, "variable", None))))
    return [known[node] for node in nodes]


def _is_steep(node: Any) -> bool:
    kind = node.name()
    exponent = getattr(node, "_saved_exponent", None)
    smooth = isinstance(exponent, int | float) and exponent >= 1
    return kind.startswith(STEEP) and not kind.startswith(("LogSoftmax", "Logsumexp")) and not smooth
