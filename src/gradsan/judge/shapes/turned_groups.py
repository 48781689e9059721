"""Samples that are laid out as groups, turned, and flattened again: they come out in another order than they were in.

Only the first axis is followed: which samples it holds. Samples that were split into groups (`view(rounds, prompts)`),
turned and flattened belong to the same samples in another order; where they meet these as they were, each gets what
belongs to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.flow import JOINING
from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import BY_SIZE, LAYERS, RECURRENT, RESHAPING, TAKING
from gradsan.judge.shapes.flat_orders import TURNING
from gradsan.record.events import Op, ValueId

REDUCING = {"mean", "sum", "amax", "amin", "std", "var", "prod", "any", "all", "cumsum", "logsumexp"}
KEEPING = BY_SIZE | LAYERS | RESHAPING | TAKING | REDUCING | set(RECURRENT) | {
    "embedding", "gather", "cross_entropy", "nll_loss", "float", "long", "to", "int", "clone", "detach", "contiguous",
    "remainder", "eq", "ne", "lt", "gt", "le", "ge", "scaled_dot_product_attention", "take_along_dim",
}  # fmt: skip
SCORING = {"cross_entropy", "nll_loss"}


class Turned(NamedTuple):
    """`met` puts samples together with what belongs to others: `flattened` laid them out group by group."""

    met: Op
    flattened: Op


class _Samples(NamedTuple):
    """Which samples the first axis holds, and how: as groups that were turned, or in the order of such groups."""

    samples: ValueId
    groups: tuple[int, int] = (0, 0)  # sizes of the first two axes
    turned: bool = False
    flattened: ValueId = ValueId(0)


def turned_groups(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[Turned]:
    if not graph.named(within, TURNING) or not graph.named(within, RESHAPING):
        return
    known: dict[ValueId, _Samples] = {}
    for nid in sorted(within):
        op = within[nid]
        rows = [(i, known[i.nid]) for i in graph.inputs(op) if i.nid in known]
        odd = next((r for _, r in rows if r.flattened), None)
        usual = [i for i, r in rows if odd is not None and r.samples == odd.samples and _is_as_it_was(r)]
        if odd is not None and op.name in BY_SIZE and any(i.live for i in usual):
            yield Turned(op, within[odd.flattened])
        elif op.shape:
            known[nid] = _followed(op, rows)


def _is_as_it_was(rows: _Samples) -> bool:
    return not rows.flattened and not rows.groups[0]


def _followed(op: Op, rows: list[tuple[Op, _Samples]]) -> _Samples:
    fresh = _Samples(op.nid)
    first = next(((i, r) for i, r in rows if i.shape), None)
    if first is None or op.kind != "operation" or op.name in JOINING - {"where", "masked_fill"}:
        return fresh
    source, own = first
    if op.name in RESHAPING and (changed := _reshaped(op, source, own)) is not None:
        return changed
    if op.name in TURNING and own.groups[0]:
        swapped = op.shape[:2] == source.shape[1::-1] and len(op.shape) == 2
        return own._replace(groups=own.groups[::-1], turned=not own.turned) if swapped else fresh
    if op.name in TURNING:  # of what lies behind the samples
        behind = len(op.shape) > 2 and op.shape[0] == source.shape[0] not in op.shape[1:]
        return own if behind else fresh
    if op.name not in KEEPING | {"where", "masked_fill"}:
        return fresh
    if op.name in SCORING and len(source.shape) > 1:
        return own if op.shape[0] == source.shape[0] and _is_as_it_was(own) else fresh
    return _kept(op, rows) or fresh


def _kept(op: Op, rows: list[tuple[Op, _Samples]]) -> _Samples | None:
    """Of what the result has its first axis from: as many, or a part of them."""
    if op.name in REDUCING and (not op.facts.axes or 0 in op.facts.axes):
        return None
    for source, own in rows:
        same = source.shape[:1] == op.shape[:1] and op.shape[0] > 1
        if own.groups[0] and not (same and op.shape[:2] == source.shape[:2]):
            continue
        if same or (op.name in TAKING and source is rows[0][0] and len(op.shape) == len(source.shape)):
            return own
    return None


def _reshaped(op: Op, source: Op, own: _Samples) -> _Samples | None:
    if len(source.shape) == 1 and len(op.shape) == 2 and min(op.shape) > 1 and _is_as_it_was(own):
        return own._replace(groups=(op.shape[0], op.shape[1]))
    if own.groups[0] and len(op.shape) <= 2 and op.shape[0] == source.shape[0] * source.shape[1]:
        whole = _Samples(own.samples)
        return whole._replace(flattened=op.nid) if own.turned else whole
    return None
