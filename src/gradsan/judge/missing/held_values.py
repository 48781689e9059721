"""A prediction that enters the loss only as its old self and a clamped change."""

from __future__ import annotations

from collections.abc import Collection
from math import prod

from gradsan.judge.flow import SHAPING, behind_all
from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import LAYERS, onward
from gradsan.record.events import Op, ValueId

SQUARING = {"pow", "square", "mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss"}
SUMS = {"add", "sub", "rsub"}


def is_held_to_its_old_self(
    graph: Provenance, op: Op, live: dict[ValueId, Op], roots: Collection[ValueId]
) -> bool:
    """`(old + (value - old).clamp(-c, c) - target) ** 2`, where the value itself has no loss. A number per row that a
    layer gives: what is squashed or has several columns may be an action that is to change slowly."""
    change = behind_all(graph, next(graph.inputs(op), None), SHAPING)
    if (
        op.name != "clamp"
        or len(op.facts.scalars) != 2
        or change is None
        or change.name not in ("sub", "rsub")
    ):
        return False
    sides = list(graph.inputs(change))
    value = next((side for side in sides if side.live), None)
    old = next((side for side in sides if not side.live), None)
    if value is None or old is None or not _is_number_per_row(graph, value):
        return False
    without = {nid: o for nid, o in live.items() if nid != op.nid}
    alone = graph.descendants([value.nid], without).isdisjoint(roots)
    return alone and _is_put_back(graph, op, old, live)


def _is_number_per_row(graph: Provenance, value: Op) -> bool:
    made = behind_all(graph, value, SHAPING | {"getitem", "select"})
    rows = max(value.shape, default=1)
    return made is not None and made.name in LAYERS and prod(value.shape) == rows > 1


def _is_put_back(graph: Provenance, op: Op, old: Op, live: dict[ValueId, Op]) -> bool:
    """Whether what it was the change of is added again, and an error is made of that."""
    added, here = False, op
    while (users := list(onward(graph, here, live))) and len(users) == 1:
        user = users[0]
        if user.name in SQUARING or (user.name == "mul" and set(user.inputs) == {here.nid}):
            return added
        if user.name not in SUMS | SHAPING:
            return False
        added |= user.name == "add" and old.nid in user.inputs
        here = user
    return False
