"""Views that were meant to exchange axes and tear rows apart."""

from __future__ import annotations

from math import prod

from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import BY_SIZE, LAYERS, ROWS, UNITS, Roles
from gradsan.record.events import Op

LAYING_OUT = {"view", "reshape", "unflatten"}


def is_torn(graph: Provenance, op: Op, source: Op, words: Roles) -> bool:
    """Whether a reshape has put rows and units into each other, `[B, T, A]` to `[B, A, T]`: an axis of rows comes after
    the units, or a part of them, where a transposition was meant; or axes of rows have changed places."""
    if _exchanges_rows(op, source, words):
        return not _was_so_before(graph, op, source)
    if op.name not in ("view", "reshape") or words[-1:] != (UNITS,) or set(words[:-1]) != {ROWS}:
        return False
    kept = 0
    while kept < min(len(op.shape), len(source.shape)) and op.shape[kept] == source.shape[kept]:
        kept += 1
    rows, units, after = source.shape[kept:-1], source.shape[-1], op.shape[kept:]
    if not rows or min(*rows, units, *after) < 2 or after[1 : len(rows) + 1] != rows:
        return False
    whole, split = after == (units, *rows), len(after) == len(rows) + 2 and after[0] * after[-1] == units
    return (whole or split) and after[0] != prod(rows)


def _exchanges_rows(op: Op, source: Op, words: Roles) -> bool:
    """The same sizes in another order, behind or before others that stay where they are."""
    if op.name not in LAYING_OUT or sorted(op.shape) != sorted(source.shape):
        return False
    moved = [a for a, n in enumerate(source.shape) if op.shape[a] != n]
    stays = len(source.shape) - len(moved)
    rows = [a for a in moved if words[a] == ROWS]
    return bool(rows) and stays > 0 and all(source.shape[a] > 1 for a in moved)


def _was_so_before(graph: Provenance, op: Op, source: Op) -> bool:
    """Whether the rows were laid out as they are now, or flat, before another view: in chunks for a layer, and back."""
    here: Op | None = source
    while here is not None and here.name in LAYERS | BY_SIZE:
        here = next((i for i in graph.inputs(here) if len(i.shape) == len(here.shape)), None)
    before = next(graph.inputs(here), None) if here is not None and here.name in LAYING_OUT else None
    if before is None:
        return False
    return before.shape[:-1] in (op.shape[:-1], (prod(op.shape[:-1]),))
