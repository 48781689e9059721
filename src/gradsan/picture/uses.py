"""Each use of a network in a computation: the operations on its parameters and what lies between them."""

from __future__ import annotations

from collections.abc import Callable

from gradsan.judge.provenance import Provenance, params_of
from gradsan.record.events import NOWHERE, Op, ParamId, Site, ValueId

OPEN = 8  # as many uses as one value is followed back to


class Uses:
    """Sorts operations into *units*: one per use of a network, one for every other operation.

    `unit` maps an operation to its unit, `members` a unit to its operations, `box` a unit to its network.
    """

    def __init__(
        self,
        graph: Provenance,
        ops: dict[ValueId, Op],
        box_of: dict[ParamId, str],
        is_home: Callable[[Site], bool],
    ) -> None:
        self._graph = graph
        self._is_home = is_home
        self._ops = ops
        self._parent: dict[ValueId, ValueId] = {}
        self._open: dict[
            ValueId, frozenset[ValueId]
        ] = {}  # uses whose result, nothing else, this was made of
        self._direct: dict[ValueId, str] = {}
        for op in ops.values():
            self._visit(op, box_of)
        self.unit: dict[int, int] = {}
        self.box: dict[int, str] = {}
        self.members: dict[int, list[Op]] = {}
        self._sort()

    def _visit(self, op: Op, box_of: dict[ParamId, str]) -> None:
        nid = op.nid
        if op.kind == "parameter":
            return
        used = [box_of[p] for s in (op, *self._graph.inputs(op)) for p in params_of(s) if p in box_of]
        behind = frozenset().union(*(self._open.get(i, frozenset()) for i in op.inputs))
        if not used:
            same = {u for u in behind if self._ops[u].live == op.live}
            self._open[nid] = frozenset(list(same)[:OPEN])
            return
        self._direct[nid] = used[0]
        self._parent[nid] = nid
        for use in behind:
            if self._direct[use] == used[0] and self._ops[use].live == op.live:
                self._parent[self._find(use)] = self._find(nid)
        self._open[nid] = frozenset({nid})

    def _find(self, nid: ValueId) -> ValueId:
        while self._parent[nid] != nid:
            self._parent[nid] = self._parent[self._parent[nid]]
            nid = self._parent[nid]
        return nid

    def _sort(self) -> None:
        inside = self._between()
        names: dict[ValueId, ValueId] = {}  # a use is called by its oldest operation
        for nid, op in self._ops.items():
            if op.kind == "parameter":
                continue
            use = self._find(nid) if nid in self._direct else inside.get(nid)
            unit = self._tail_of(op) if use is None else names.setdefault(use, nid)
            self.unit[nid] = unit
            self.members.setdefault(unit, []).append(op)
            if nid in self._direct:
                self.box[unit] = self._direct[nid]

    def _tail_of(self, op: Op) -> int:
        """The activation after a layer belongs to the layer, unless the loss's own function applies it."""
        units = {self.unit[i] for i in op.inputs if i in self.unit}
        unit = units.pop() if len(units) == 1 else -1
        if unit not in self.box or self._is_home(op.site) or self.members[unit][0].live != op.live:
            return op.nid
        return unit

    def _between(self) -> dict[ValueId, ValueId]:
        """Operations on a way from one operation of a use to another of the same use."""
        inside: dict[ValueId, ValueId] = {}
        for nid in sorted(self._ops, reverse=True):
            if nid in self._direct or self._ops[nid].kind == "parameter":
                continue
            possible = {self._find(use) for use in self._open[nid]}
            for consumer in self._graph.consumers.get(nid, ()):
                use = self._find(consumer) if consumer in self._direct else inside.get(consumer)
                if use in possible:
                    inside[nid] = use
                    break
        return inside

    def consumers(self, unit: int) -> set[int]:
        found = {
            self.unit[c]
            for op in self.members[unit]
            for c in self._graph.consumers.get(op.nid, ())
            if c in self.unit
        }
        return found - {unit}

    def label(self, unit: int, graph: Provenance) -> tuple[str, Site, bool, str]:
        """What a unit is, apart from what it is for."""
        op = self.members[unit][0]
        if unit in self.box:
            return self.box[unit], NOWHERE, op.live, ""
        return "", op.site, op.live, op.name if graph.is_cut(op) else ""
