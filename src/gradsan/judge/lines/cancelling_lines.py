"""Two equal values cancel: which of them was to be a constant, and on which line it should have become one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge import flow
from gradsan.judge.lines.callers import meeting, used_in, way_of
from gradsan.judge.lines.source import given_twice_at, names_bound_at, second_name_at, subtrahend_bound_at
from gradsan.record.events import NOWHERE, Op, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History


def line_of_constant(history: History, op: Op, kept: Op, twin: Op, roots: list[ValueId]) -> Site:
    """The line to change where `op` subtracts what equals itself."""
    if (sampled := _sampled(history, op)) is not None:
        return sampled.site
    if kept is twin:
        return _second_way(history, op, twin)
    if kept.site == twin.site:
        return _asked_for(history, op, kept, twin) or used_in(history, twin, op)
    elsewhere = _beside(history, op, roots)
    if twin.nid in elsewhere and kept.nid not in elsewhere:
        return _bound_before(history, op, kept, twin)
    return twin.site


def _sampled(history: History, op: Op) -> Op | None:
    """The reparameterised sample among the summands, if that is how the value came in twice."""
    ancestors = history.graph.ancestors([op.nid]).values()
    return next((i for i in ancestors if "rsample" in i.tags and i.live), None)


def _second_way(history: History, op: Op, value: Op) -> Site:
    """One value came here in two ways: it is not the value that is wrong, but one of them. Through a sum on another
    line (a sample around its mean), by a second name, or handed in twice."""
    if (carrier := _carrier(history, op, value)) is not None:
        return used_in(history, carrier, op) if carrier.site == op.site else carrier.site
    path = way_of(history, op)
    where = history.sites.get(path[meeting(history, path, way_of(history, value))])
    made = history.sites.get(used_in(history, value, op))
    if where is not None and made is not None and path[0] != where.site:
        at = given_twice_at(where.file, where.line)
        at = at or second_name_at(where.file, where.line, names_bound_at(made.file, made.line))
        if at:
            return history.site_at(where.file, at, where.function)
    return _asked_for(history, op, value, value) or used_in(history, value, op)


def _carrier(history: History, op: Op, value: Op) -> Op | None:
    """The sum that brings the value here together with something else, where that was another line's."""
    graph, found = history.graph, op
    while True:
        sums = [i for i in graph.inputs(found) if i.live and i.name in flow.ADDITIVE and i.nid != value.nid]
        inside = [
            i for i in sums if any(t.op.nid == value.nid for t in flow.terms(graph, i, 60, reshape=False))
        ]
        if not inside:
            return None
        found = inside[0]
        if found.site != op.site:
            return found


def _asked_for(history: History, op: Op, kept: Op, twin: Op) -> Site:
    """Where one line made both values, the line that asked for the second: the one whose result is subtracted."""
    where = history.sites.get(op.site)
    asked = subtrahend_bound_at(where.file, where.line) if where is not None else 0
    if where is None or not asked:
        return NOWHERE
    ways = (site for side in (kept, twin) for site in way_of(history, side))
    calls = {seen.line for site in ways if (seen := history.sites.get(site)) is not None}
    older, newer = (used_in(history, side, op) for side in sorted((kept, twin)))
    # Something else may be subtracted on that line, too.
    if asked in calls or older == newer:
        return history.site_at(where.file, asked, where.function)
    return older


def _beside(history: History, op: Op, roots: list[ValueId]) -> set[ValueId]:
    """What the other terms of the loss are made of."""
    graph = history.graph
    terms = [t for nid in roots if (root := graph.get(nid)) is not None for t in flow.terms(graph, root)]
    return {
        nid
        for term in terms
        if op.nid not in (behind := graph.live_ancestors([term.op.nid]))
        for nid in behind
    }


def _bound_before(history: History, op: Op, constant: Op, other: Op) -> Site:
    """The line that made what was to be a constant; of what was made in passing, on the line of the difference, the
    line that made it of the weights."""
    graph = history.graph
    shared = graph.live_ancestors([other.nid])
    own = [o for nid, o in graph.live_ancestors([constant.nid]).items() if nid not in shared and o.site]
    if constant.site != op.site or not own:
        return constant.site
    before = [o for o in own if used_in(history, o, op) != op.site]
    return used_in(history, max(before), op) if before else constant.site
