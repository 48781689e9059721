"""Targets that take the next value at every row, beside flags for each row that nobody ever reads.

Which flags are ends is not known without an environment. But where a number is compared for every row of the batch, or
a column of the batch holds zeros and ones, the result is handed to the function that makes the target, or unpacked
there, by a name which that function never mentions, and nothing else reads it either, the mask was forgotten. A count
of steps that is compared may be a time limit, which is no end: that is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from gradsan.judge.flow import BOUNDING, SHAPING, TAKEN_OUT, unshaped
from gradsan.judge.history import History
from gradsan.judge.lines.arrival_lines import ARRIVING, place_on_line
from gradsan.judge.lines.callers import way_of
from gradsan.judge.lines.unread_names import unread_around
from gradsan.judge.residuals import residuals
from gradsan.judge.shapes.axes import COMPARING
from gradsan.record.events import Backward, Op, Site

ENOUGH_UPDATES = 3
THROUGH = SHAPING | TAKEN_OUT | BOUNDING | {"add", "sub", "rsub", "mul", "div", "neg", "clamp"}
DEEPEST = 24
PICKING = {"getitem", "index_select"}
MASKING = {"mul", "where", "masked_fill"}
FILLED = ARRIVING | {
    "setitem",
    "index_put",
    "copy",
    "scatter",
    "masked_scatter",
}  # at some rows only, perhaps


class UnreadFlags(NamedTuple):
    target: Op
    flags: Site
    name: str


class FlagsWatch:
    """Flags that were made, by line, and whether anybody has read them since."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._dead: dict[
            tuple[Site, int], set[int]
        ] = {}  # in which iterations; a line may make several columns
        self._read: set[tuple[Site, int]] = set()

    def unread_in(self, event: Backward) -> Iterator[UnreadFlags]:
        history, graph = self._history, self._history.graph
        for residual in residuals(graph, [root.nid for root in event.roots]):
            for term in residual.terms:
                made = unshaped(graph, term.op, SHAPING)  # for several heads, one target is laid out again
                rows = prod(made.shape)
                if made.live or rows < 2 or (target := self._unmasked(made, rows)) is None:
                    continue
                found = self._flags_of(rows)
                names = [name for site in way_of(history, target) for name in self._unread_at(site)]
                if len(set(found)) == 1 and (names := [*names, *self._unread_at(found[0])]):
                    yield UnreadFlags(target, found[0], names[0])

    def _unread_at(self, site: Site) -> tuple[str, ...]:
        seen = self._history.sites.get(site)
        return unread_around(seen.file, seen.line) if seen is not None else ()

    def _unmasked(self, target: Op, rows: int) -> Op | None:
        """The sum of data and of what a network said, where nothing else is given for each row."""
        graph = self._history.graph
        added, stack, seen = None, [target], {target.nid}
        while stack and len(seen) < DEEPEST:
            op = stack.pop()
            sides = list(graph.inputs(op))[: 1 if op.name in SHAPING else None]  # `y.expand_as(q)` holds no q
            learned = [side for side in sides if graph.value_params([side.nid])]
            others = [side for side in sides if side not in learned and prod(side.shape) >= rows]
            if not learned:
                continue
            if (op.name in MASKING and others) or any(side.name in FILLED for side in learned):
                return None
            added = added or (op if op.name in ("add", "sub", "rsub") and others else None)
            for side in learned:
                if side.nid not in seen and side.name in THROUGH | MASKING:
                    seen.add(side.nid)
                    stack.append(side)
        return added

    def _flags_of(self, rows: int) -> list[Site]:
        """The lines of flags that nobody has read, of the iteration before: those of this one may still be."""
        history, graph = self._history, self._history.graph
        last = history.iteration - 1
        for op in graph.named(graph.ops, COMPARING | ARRIVING | PICKING):
            if graph.iteration_of[op.nid] != last or prod(op.shape) != rows or not self._are_flags(op):
                continue
            flags, is_read = self._followed(op)
            column = flags.site, place_on_line(history, op) if op.name not in COMPARING else 0
            if is_read:
                self._read.add(column)
            else:
                self._dead.setdefault(column, set()).add(last)
        dead = {column: seen for column, seen in self._dead.items() if column not in self._read}
        return [site for (site, _), seen in dead.items() if len(seen) >= ENOUGH_UPDATES]

    def _followed(self, op: Op) -> tuple[Op, bool]:
        """Flags in their last form, and whether that has been read."""
        graph, users = self._history.graph, self._history.graph.consumers.get(op.nid, ())
        while (
            len(users) == 1 and (user := graph.get(users[0])) is not None and user.name in SHAPING | {"float"}
        ):
            op, users = user, graph.consumers.get(user.nid, ())
        return op, bool(users)

    def _are_flags(self, op: Op) -> bool:
        if op.name in COMPARING:
            return self._compares_numbers(op)
        return op.facts.mask is not None and 0 < op.facts.mask.kept < prod(op.shape)

    def _compares_numbers(self, op: Op) -> bool:
        return all(side.floating and not side.live for side in self._history.graph.inputs(op))
