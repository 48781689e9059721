"""Which axes of different values are the same one: the samples of a batch, the steps of a sequence.

Every axis of a value from outside gets a name of its own; operations hand names on, and axes that meet in an
elementwise operation get one name in common. So a weight that belongs to the sequences is known as such even where
there are as many sequences as steps.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.axes import BY_SIZE, LAYERS, ROWS, UNKNOWN, Roles, handed_on, roles
from gradsan.judge.meetings import Meeting
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ValueId


def rows_along_steps(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[Meeting]:
    """A `[B]` that belongs to the rows of a `[B, T]` and is laid along its columns, which only fits as B is T. Both
    axes of the `[B, T]` are rows that a layer was given: in a square of states each axis is all states."""
    if not any(_is_square_with_one(graph, op) for op in within.values()):
        return
    names, known = _AxisNames(graph), roles(graph, within)
    for nid in sorted(within):
        op = within[nid]
        pair = _square_with_one(graph, op)
        if pair is not None and names.crossed(*pair) and known[pair[1].nid][-2:] == (ROWS, ROWS):
            yield Meeting(op, *pair)
            names.begin(op)
        else:
            names.add(op)


def _is_square_with_one(graph: Provenance, op: Op) -> bool:
    return _square_with_one(graph, op) is not None


def _square_with_one(graph: Provenance, op: Op) -> tuple[Op, Op] | None:
    """A value `[n]` and a live value `[…, n, n]` that it is spread to."""
    if op.name not in BY_SIZE or len(op.shape) < 2 or op.shape[-1] != op.shape[-2] or op.shape[-1] < 2:
        return None
    sides = [i for i in graph.inputs(op) if i.floating]
    one = next((i for i in sides if i.shape == op.shape[-1:]), None)
    square = next((i for i in sides if i.shape == op.shape and i.live), None)
    return (one, square) if one is not None and square is not None else None


class _AxisNames:
    def __init__(self, graph: Provenance) -> None:
        self._graph = graph
        self._known: dict[ValueId, Roles] = {}
        self._same: dict[str, str] = {}
        self._count = 0

    def crossed(self, one: Op, square: Op) -> bool:
        """Whether the only axis of `one` is the last but one of `square`, and not the last."""
        own = self._find(self._known[one.nid][0])
        row, column = (self._find(name) for name in self._known[square.nid][-2:])
        return own == row != column

    def begin(self, op: Op) -> None:
        self._known[op.nid] = tuple(self._fresh() for _ in op.shape)

    def add(self, op: Op) -> None:
        inputs = [i for i in self._graph.inputs(op) if i.nid in self._known]
        found: Roles = ()
        if op.name in LAYERS and inputs and len(inputs[0].shape) == len(op.shape):
            found = (*self._known[inputs[0].nid][:-1], UNKNOWN)
        elif op.name in BY_SIZE and op.kind == "operation":
            self._join(op, inputs)
        if op.kind == "operation" and not found:
            found = handed_on(self._graph, op, self._known)
        if len(found) != len(op.shape):
            found = (UNKNOWN,) * len(op.shape)
        self._known[op.nid] = tuple(self._find(name) if name else self._fresh() for name in found)

    def _join(self, op: Op, inputs: list[Op]) -> None:
        """Axes of one size at one place are the same axis, whatever they were called."""
        for place in range(-len(op.shape), 0):
            fitting = [i for i in inputs if len(i.shape) >= -place and i.shape[place] == op.shape[place] > 1]
            names = [self._find(self._known[i.nid][place]) for i in fitting]
            for name in names[1:]:
                self._same[self._find(name)] = self._find(names[0])
            for i in fitting:
                self._known[i.nid] = tuple(self._find(name) for name in self._known[i.nid])

    def _fresh(self) -> str:
        self._count += 1
        return str(self._count)

    def _find(self, name: str) -> str:
        while name in self._same and self._same[name] != name:
            name = self._same[name]
        return name
