"""Answers to one prompt are compared with each other: how prompts were repeated says which rows belong together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.flow import SHAPING, users_through
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ValueId

REPEATING = {"repeat_interleave", "repeat", "tile"}
FOLDING = {"view", "reshape", "unflatten"}
AVERAGING = ("mean", "sum")  # of the others: `(r.sum(1) - r) / (k - 1)`


class MixedGroup(NamedTuple):
    """`mean` runs over rows of different prompts, of which `repeated` made so many rows each."""

    mean: Op
    folded: Op
    repeated: Op
    prompts: int
    answers: int
    wrong_form: bool


def mixed_groups(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[MixedGroup]:
    """`(r - r.mean(0))` of rewards `[G, K]` where the rows were repeated group by group; or of a `[K, G]`, which then
    has answers to several prompts along either axis."""
    repeats = [found for op in graph.named(within, REPEATING) if (found := _repeat(graph, op)) is not None]
    for mean in graph.named(within, AVERAGING) if repeats else ():
        folded = next(graph.inputs(mean), None)
        if folded is None or len(folded.shape) != 2 or len(mean.facts.axes) != 1:
            continue
        rows = folded.shape[0] * folded.shape[1]
        fitting = [r for r in repeats if r[0].shape[0] == rows]
        if (
            len(fitting) != 1
            or not _is_folded(graph, folded, rows)
            or not _is_subtracted(graph, mean, folded)
        ):
            continue
        repeated, prompts, answers, in_turn = fitting[0]
        form = (answers, prompts) if in_turn else (prompts, answers)
        axis = 0 if in_turn else 1
        if (folded.shape, mean.facts.axes) != (form, (axis,)):
            yield MixedGroup(mean, folded, repeated, prompts, answers, folded.shape != form)


class SpreadOtherwise(NamedTuple):
    """The means of groups, `spread` over the rows in another order than these were folded in."""

    spread: Op
    mean: Op
    folded: Op


def spread_otherwise(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[SpreadOtherwise]:
    """`r - r.view(n, k).mean(1).repeat(k)`: row i is in group i // k, and gets the mean of group i % n."""
    for spread in graph.named(within, REPEATING):
        mean = next(graph.inputs(spread), None)
        folded = next(graph.inputs(mean), None) if mean is not None and mean.name in AVERAGING else None
        if mean is None or folded is None or len(folded.shape) != 2 or len(mean.facts.axes) != 1:
            continue
        rows, along = folded.shape[0] * folded.shape[1], mean.facts.axes[0] % 2
        plain = spread.shape == (rows,) and mean.shape == (folded.shape[1 - along],) and min(folded.shape) > 1
        if not plain or not _is_folded(graph, folded, rows):
            continue
        in_turn = spread.name != "repeat_interleave"
        users = users_through(graph, spread, graph.ops, set())
        if in_turn == (along == 1) and any(u.name == "sub" and folded.inputs[0] in u.inputs for u in users):
            yield SpreadOtherwise(spread, mean, folded)


def _repeat(graph: Provenance, op: Op) -> tuple[Op, int, int, bool] | None:
    """A batch of which every row was repeated equally often: how many rows there were, how often, and whether in turn
    (all of them, then all of them again)."""
    source = next(graph.inputs(op), None)
    if source is None or len(op.inputs) != 1 or len(source.shape) < 2 or source.shape[1:] != op.shape[1:]:
        return None
    prompts, rows = source.shape[0], op.shape[0]
    if prompts < 2 or rows % prompts or rows // prompts < 2:
        return None
    return op, prompts, rows // prompts, op.name != "repeat_interleave"


def _is_folded(graph: Provenance, op: Op, rows: int) -> bool:
    """Made of one number for each row, in their order."""
    source = next(graph.inputs(op), None)
    return op.name in FOLDING and source is not None and source.shape in ((rows,), (rows, 1)) and not op.live


def _is_subtracted(graph: Provenance, mean: Op, folded: Op) -> bool:
    """From what it is the mean of, folded or as it was before: `r - r.view(n, k).mean(1).repeat_interleave(k)`."""
    forms = {folded.nid, *folded.inputs[:1]}
    users = users_through(graph, mean, graph.ops, SHAPING)
    return any(user.name == "sub" and forms & set(user.inputs) for user in users)
