"""Which axes of different values are the same one: the samples of a batch, the steps of a sequence.

Every axis of a value from outside gets a name of its own; operations hand names on, and axes that meet in an
elementwise operation, or as what is chosen from and what chooses, get one name in common. So a weight that belongs to
the sequences is known as such even where there are as many sequences as steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from gradsan.judge.flow import REDUCING, unshaped
from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import BY_SIZE, LAYERS, ROWS, UNITS, UNKNOWN, Roles, handed_on, onward, roles
from gradsan.judge.shapes.meetings import Meeting
from gradsan.record.events import Op, ValueId

PAIRING = {"matmul", "mm", "bmm", "einsum", "cdist", "outer", "ger", "cov", "corrcoef", "cosine_similarity"}

ALIKE = {"eq", "ne"}
SHARING = {
    "softmax",
    "log_softmax",
    "exp",
    "sigmoid",
    "softplus",
    "relu",
    "detach",
    "clone",
}  # of a layer's output
FLATTENING = {"view", "reshape", "flatten", "ravel", "unflatten"}


def rows_along_columns(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[Meeting]:
    """A `[B]` that belongs to the rows of a `[B, N]` and is laid along its columns, which only fits as B is N. The
    columns are units (quantiles), or, of something live, steps: rows that a layer was given, too. In a square of states
    each axis is all states. Of constants, what the rows of the square itself were summed up to."""
    if not any(_square_with_one(graph, op) is not None for op in graph.named(within, BY_SIZE)):
        return
    names, known = AxisNames(graph), roles(graph, within)
    along_units: list[tuple[Op, Op, Op]] = []
    for nid in sorted(within):
        op = within[nid]
        one, square = _square_with_one(graph, op) or (op, op)
        columns = known[square.nid][-2:] if one is not op else ()
        if columns == (ROWS, UNITS):
            if not _is_expected(graph, op, square, within):
                along_units.append((op, one, square))
            names.take_from(op, square)
        elif (
            one is not op
            and (columns == (ROWS, ROWS) if square.live else _sums_up_rows_of(graph, one, square))
            and names.crossed(one, square)
        ):
            yield Meeting(op, one, square)
            names.begin(op)
        else:
            names.add(op)
    # Whose rows these are is often seen only where prediction and target meet.
    for op, one, square in along_units:
        if names.crossed(one, square):
            yield Meeting(op, one, square)


def _is_expected(graph: Provenance, op: Op, square: Op, within: dict[ValueId, Op]) -> bool:
    """`(p * v).sum(1)`: what comes next, of shares or counts that a layer gives for every state, from every state. Its
    columns may well be the states, too."""
    users = list(onward(graph, op, within))
    summed = all(user.name == "sum" and user.facts.axes == (len(op.shape) - 1,) for user in users)
    if op.name != "mul" or not users or not summed or square.name == "log_softmax":
        return False
    return unshaped(graph, square, SHARING).name in LAYERS


def _square_with_one(graph: Provenance, op: Op) -> tuple[Op, Op] | None:
    """A value `[n]` and a value `[…, n, n]` that it is spread to."""
    if op.name not in BY_SIZE or len(op.shape) < 2 or op.shape[-1] != op.shape[-2] or op.shape[-1] < 2:
        return None
    sides = [i for i in graph.inputs(op) if i.floating]
    one = next((i for i in sides if i.shape == op.shape[-1:]), None)
    square = next((i for i in sides if i.shape == op.shape), None)
    return (one, square) if one is not None and square is not None else None


def _sums_up_rows_of(graph: Provenance, one: Op, square: Op) -> bool:
    """A mean of each row, or what was made of it, that has lost the axis of the columns: `x - x.mean(1)`."""
    behind = {square.nid, *(i.nid for i in graph.inputs(square))}
    made = graph.ancestors([one.nid], lambda user, _: user.shape == one.shape)
    summed = [op for op in made.values() if op.name in REDUCING and op.shape == one.shape]
    if len(square.shape) != 2 or _is_of_pairs(graph, square):
        return False
    return any(op.facts.axes == (1,) and behind & graph.ancestors(op.inputs).keys() for op in summed)


def _is_of_pairs(graph: Provenance, square: Op) -> bool:
    """All with all, as a kernel or a distance: its rows are its columns."""
    made = graph.ancestors([square.nid], lambda user, source: source.shape == user.shape == square.shape)
    return any(op.name in PAIRING or _spreads_both(graph, op) for op in made.values())


def _spreads_both(graph: Provenance, op: Op) -> bool:
    sides = [i for i in graph.inputs(op) if i.floating]
    return op.name in BY_SIZE and len(sides) == 2 and all(side.shape != op.shape for side in sides)


class AxisNames:
    def __init__(self, graph: Provenance) -> None:
        self._graph = graph
        self._known: dict[ValueId, Roles] = {}
        self._same: dict[str, str] = {}
        self._count = 0

    def crossed(self, one: Op, square: Op) -> bool:
        """Whether the only axis of `one` is the last but one of `square`, and not the last."""
        own = self.find(self._known[one.nid][0])
        row, column = (self.find(name) for name in self._known[square.nid][-2:])
        return own == row != column

    def knows(self, op: Op) -> bool:
        return op.nid in self._known

    def of(self, op: Op) -> Roles:
        return tuple(self.find(name) for name in self._known[op.nid])

    def begin(self, op: Op) -> None:
        self._known[op.nid] = tuple(self._fresh() for _ in op.shape)

    def take_from(self, op: Op, source: Op) -> None:
        self._known[op.nid] = self._known[source.nid]

    def add(self, op: Op) -> None:
        inputs = [i for i in self._graph.inputs(op) if i.nid in self._known]
        found: Roles = ()
        if op.name in LAYERS and inputs and len(inputs[0].shape) == len(op.shape):
            found = (*self._known[inputs[0].nid][:-1], UNKNOWN)
        elif op.name in BY_SIZE | ALIKE and op.kind == "operation":
            met = self._join(op, inputs)
            found = met if op.name in ALIKE else ()
        elif op.name == "gather":  # each row chooses by its own row of the index, each step by its own step
            self._join(op, inputs, op.facts.axes)
        elif (index := _index(op, inputs)) is not None:
            found = (self._known[index.nid][0], *self._known[inputs[0].nid][1:])
        elif op.name == "getitem" and len(inputs) == 1:
            found = self._sliced(op, inputs[0])
        elif (flat := _before_grouping(self._graph, op)) is not None:
            found = self._known.get(flat.nid, ())
        if op.kind == "operation" and not found:
            found = handed_on(self._graph, op, self._known)
        if len(found) != len(op.shape):
            found = (UNKNOWN,) * len(op.shape)
        self._known[op.nid] = tuple(self.find(name) if name else self._fresh() for name in found)

    def _join(self, op: Op, inputs: list[Op], but: tuple[int, ...] = ()) -> Roles:
        """Axes of one size at one place are the same axis, whatever they were called."""
        found = list[str]()
        for place in range(-len(op.shape), 0):
            fitting = [i for i in inputs if len(i.shape) >= -place and i.shape[place] == op.shape[place] > 1]
            names = [self.find(self._known[i.nid][place]) for i in fitting]
            found += names[:1] or [UNKNOWN]
            if place + len(op.shape) in but:
                continue
            for name in names[1:]:
                self._same[self.find(name)] = self.find(names[0])
            for i in fitting:
                self._known[i.nid] = tuple(self.find(name) for name in self._known[i.nid])
        return tuple(found)

    def _sliced(self, op: Op, source: Op) -> Roles:
        """`x[:, 1:, None]` has the axes of `x`, and new ones of one element."""
        wide = [name for n, name in zip(source.shape, self._known[source.nid], strict=True) if n > 1]
        if len(wide) != sum(n > 1 for n in op.shape):
            return ()
        left = iter(wide)
        return tuple(next(left) if n > 1 else UNKNOWN for n in op.shape)

    def _fresh(self) -> str:
        self._count += 1
        return str(self._count)

    def find(self, name: str) -> str:
        while name in self._same and self._same[name] != name:
            name = self._same[name]
        return name


def _index(op: Op, inputs: list[Op]) -> Op | None:
    """What rows were taken by: `rewards[batch]` and `states[batch]` have the same ones."""
    if op.name not in ("getitem", "index_select") or len(inputs) != 2:
        return None
    source, index = inputs
    fits = len(index.shape) == 1 and op.shape == (*index.shape, *source.shape[1:])
    return index if fits and not index.floating and index.shape[0] > 1 else None


def _before_grouping(graph: Provenance, op: Op) -> Op | None:
    """Rows that were laid out in groups, reckoned with place by place, and are a row again: what they were before."""
    here = next(graph.inputs(op), None) if op.name in FLATTENING and len(op.shape) == 1 else None
    while here is not None and len(here.shape) > 1:
        passes = here.name in FLATTENING | BY_SIZE and here.kind == "operation"
        here = next((i for i in graph.inputs(here) if prod(i.shape) == op.shape[0]), None) if passes else None
    return here
