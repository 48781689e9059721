"""Rows that were put into another order (by length, at random) on one side only: what weighs them, or masks them, was
left in the order that they came in.

Followed is the first axis alone: which value's rows it holds, and which picks (`x[order]`) were done to them. Two sides
that hold the rows of one value must have been through the same picks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.flow import TAKEN_OUT
from gradsan.judge.objective.same_policy import picks_rows
from gradsan.judge.objective.weighed import is_score, origin
from gradsan.judge.provenance import Provenance
from gradsan.judge.report.wording import line, value_at
from gradsan.judge.returns.misaligned import Memory, Misaligned
from gradsan.judge.shapes.turned_groups import KEEPING, REDUCING
from gradsan.record.events import Backward, Op, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

ORDERING = {"argsort", "randperm"}
HANDED_ON = KEEPING | TAKEN_OUT | {"where", "masked_fill"}


class _Order(NamedTuple):
    """Whose rows the first axis holds, and with which numbers rows were picked since."""

    of: ValueId
    picks: tuple[ValueId, ...] = ()


class ReorderedApart:
    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        history, graph = self._history, self._history.graph
        if event.call != "backward":
            return
        within = graph.ancestors(root.nid for root in event.roots)
        if not graph.named(within, ORDERING):
            return
        for met, weight, pick in _apart(graph, within):
            if is_score(history, met) and self._memory.is_enough(met.nid, met.site):
                made = origin(history, weight)
                yield Misaligned(
                    pick.site,
                    f"the rows are put into another order here, and {value_at(history, made, 'what weighs them')}, "
                    f"which they meet on {line(history, met.site)}, is not (or the other way round): each row is "
                    "weighed with what belongs to another",
                    [("order", pick.site), ("weight", made), ("loss", met.site), ("backward", event.site)],
                    fix="put everything that belongs to a row into the new order, or nothing",
                )


def _apart(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[tuple[Op, Op, Op]]:
    """Where they meet, the side that is a constant, and the pick that only one of them went through."""
    known, picked = dict[ValueId, _Order](), dict[ValueId, Op]()
    for nid in sorted(within):
        op = within[nid]
        known[nid] = _followed(graph, op, known)
        if known[nid].picks and picks_rows(graph, op):
            picked.setdefault(op.inputs[1], op)
        sides = list(graph.inputs(op)) if op.name == "mul" and op.live and len(op.inputs) == 2 else []
        live, weight = [s for s in sides if s.live], [s for s in sides if not s.live and s.floating]
        if picked and live and weight and all(s.shape and s.shape[0] == op.shape[0] for s in sides):
            extra = _one_more(*(known.get(side.nid, _Order(side.nid)) for side in (live[0], weight[0])))
            if extra is not None and _orders_all(graph, picked[extra]):
                yield op, weight[0], picked[extra]


def _one_more(ours: _Order, theirs: _Order) -> ValueId | None:
    """The one pick that only one side went through."""
    longer, shorter = sorted((ours.picks, theirs.picks), key=len, reverse=True)
    if ours.of != theirs.of or len(longer) != len(shorter) + 1:
        return None
    rests = (longer[:at] + longer[at + 1 :] for at in range(len(longer)))
    return next((numbers for numbers, rest in zip(longer, rests, strict=True) if rest == shorter), None)


def _orders_all(graph: Provenance, pick: Op) -> bool:
    """All rows, by numbers that are an order by themselves; an order of an order leads back."""
    source, numbers = graph.get(pick.inputs[0]), graph.get(pick.inputs[1])
    if source is None or numbers is None or source.shape[0] != pick.shape[0] or numbers.name not in ORDERING:
        return False
    return not graph.named(graph.ancestors(numbers.inputs), ORDERING | {"sort"})


def _followed(graph: Provenance, op: Op, known: dict[ValueId, _Order]) -> _Order:
    fresh = _Order(op.nid)
    if op.kind != "operation" or not op.shape:
        return fresh
    if picks_rows(graph, op):
        source = known.get(op.inputs[0], _Order(op.inputs[0]))
        return source._replace(picks=(*source.picks, op.inputs[1]))
    if op.name not in HANDED_ON or (op.name == "gather" and len(op.shape) == 1):
        return fresh
    if op.name in REDUCING and (not op.facts.axes or 0 in op.facts.axes):
        return fresh
    rows = [i for i in graph.inputs(op) if i.kind != "parameter" and i.shape[:1] == op.shape[:1]]
    live = [i for i in rows if i.live]
    found = {known.get(i.nid, _Order(i.nid)) for i in (live if len(live) == 1 else rows)}
    return found.pop() if len(found) == 1 else fresh
