"""Where the minus of a clipped surrogate is missing: in the bound itself, or where that is taken on to the loss."""

from __future__ import annotations

from gradsan.judge.flow import SHAPING
from gradsan.judge.history import History
from gradsan.judge.lines.callers import used_in
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, Site, ValueId

ADDING = ("add", "sub", "rsub")


def taken_on_at(history: History, bound: Op, ratio: Op, roots: list[ValueId], whole: bool) -> Site:
    """The line that averages `min(ratio * A, clipped * A)` and hands it to the loss: that is where the minus belongs.
    Where a minus stands inside of the bound, it is the line of the bound. `whole`: what is added to it for each sample
    has the wrong sign, too, so the minus belongs behind the sum."""
    graph = history.graph
    if _is_turned(graph, bound, ratio):
        return bound.site
    within, last = graph.live_ancestors(roots), bound
    passed = {last.nid}
    while last.shape and (following := _where_all_meet(graph, last, within, passed, whole)) is not None:
        last = following
    return used_in(history, last, bound)


def _where_all_meet(
    graph: Provenance, last: Op, within: dict[ValueId, Op], passed: set[ValueId], whole: bool
) -> Op | None:
    """The next value through which all of this one goes on to the loss (of a dual clip, the `where`), if no other term
    is added on the way. Values are numbered in the order they were made."""
    ways = set(_users(graph, last, within))
    while ways:
        first = within[min(ways)]
        if (
            not whole
            and first.name in ADDING
            and any(s.live and s.nid not in passed for s in graph.inputs(first))
        ):
            return None
        passed.add(first.nid)
        if len(ways) == 1:
            return first
        if not (further := _users(graph, first, within)):
            return None
        ways = ways - {first.nid} | further
    return None


def _users(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> set[ValueId]:
    return {n for n in graph.consumers.get(op.nid, ()) if n in within}


def _is_turned(graph: Provenance, bound: Op, ratio: Op) -> bool:
    """Whether a minus stands between the ratio and the bound."""
    stack, seen = [bound], {ratio.nid}
    while stack:
        op = stack.pop()
        if op.name == "neg" or (op.name in ("mul", "div") and any(x < 0 for x in op.facts.scalars)):
            return True
        for source in graph.inputs(op):
            if source.nid not in seen and source.name in SHAPING | {"neg", "mul", "div"}:
                seen.add(source.nid)
                stack.append(source)
    return False
