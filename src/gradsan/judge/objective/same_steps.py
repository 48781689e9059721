"""Whether what was scored while acting is what is learned from, where it was carried from one to the other by NumPy.

The graph does not lead there then. Observations tell: the rows of the batch are steps of the environment, and the ones
that the policy has acted on are among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge.experience import Row
from gradsan.judge.flow import CHOOSING
from gradsan.record.events import Op, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

FEWEST = 8  # steps; of a long rollout only the last ones are known, and a minibatch holds some of them


def are_of_the_same_steps(
    history: History, lost: list[Op], old: dict[ValueId, Op], behind: dict[ValueId, Op]
) -> bool:
    """Whether what leads from the old side nowhere else are observations of the batch that is behind the live side, and
    the choices for these."""
    observations = history.experience.observations
    acted_on = {nid: observations[nid] for nid in old if nid in observations}
    batch = {_step(row) for nid in behind if nid in observations for row in observations[nid]} - {None}
    known = {_step(row) for rows in acted_on.values() for row in rows}
    if len(known & batch) < FEWEST:
        return False
    covered = history.graph.ancestors(acted_on)
    alike = {(op.name, op.site) for nid, op in covered.items() if not op.inputs}
    return all(_is_choice(op) or op.nid in covered or (op.name, op.site) in alike for op in lost)


def _is_choice(op: Op) -> bool:
    return not op.floating or "sample" in op.tags or op.name in CHOOSING


def _step(row: Row) -> tuple[int, int] | None:
    return None if row is None else (row.stream, row.step)
