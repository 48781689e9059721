"""A prediction that is its own target: one memory by two names, and what is written into the one is in both."""

from __future__ import annotations

from typing import NamedTuple

from gradsan.judge.flow import SHAPING
from gradsan.judge.missing.known_answers import sides_of_error
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op

SECOND_NAMES = {"detach", "data", "numpy", "from_numpy", "as_tensor", "asarray", "alias"}
TAKEN = {"gather", "getitem", "index_select", "take_along_dim"}  # from both, the same
WRITES = {
    "setitem",
    "scatter",
    "index_put",
    "index_copy",
    "index_fill",
    "masked_fill",
    "masked_scatter",
    "copy",
    "fill",
}
SAME_MEMORY = SHAPING | SECOND_NAMES | TAKEN | WRITES


class OwnTarget(NamedTuple):
    named: Op
    """What gave the memory its second name, or else wrote into it."""
    written: Op


def own_target(graph: Provenance, bent: Op) -> OwnTarget | None:
    """Only of an error that is known to be zero: a copy in between would not be seen here."""
    sides = sides_of_error(graph, bent)
    if len(sides) != 2 or not any(side.live for side in sides):
        return None
    one, other = (_names_of(graph, side) for side in sides)
    if one[-1].nid != other[-1].nid:
        return None
    names = [op for way in (other, one) for op in way[:-1]]
    written = next((op for op in names if op.name in WRITES), None)
    named = next((op for op in reversed(names) if op.name in SECOND_NAMES and op.site), written)
    return OwnTarget(named, written or named) if named is not None else None


def _names_of(graph: Provenance, op: Op) -> list[Op]:
    """The same memory, name by name, back to what made it."""
    way = [op]
    while op.name in SAME_MEMORY and (source := next(graph.inputs(op), None)) is not None:
        op = source
        way.append(op)
    return way
