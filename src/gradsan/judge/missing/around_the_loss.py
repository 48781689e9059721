"""A loss that was itself made where gradients are off: whatever else was cut on its way, this has to go first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gradsan.judge.lines.recorded import is_inside
from gradsan.record.events import Op, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History


def switches_around(history: History, roots: Iterable[ValueId], cuts: Iterable[Op]) -> set[Site]:
    """Of the blocks that have switched gradients off for these cuts, those that every part of the loss was made in."""
    made = [op for op in map(history.graph.get, roots) if op is not None]
    if not made or any(op.live for op in made):
        return set()
    blocks = {cut.facts.grad_off for cut in cuts if cut.facts.grad_off}
    return {block for block in blocks if all(is_inside(history, op, block) for op in made)}
