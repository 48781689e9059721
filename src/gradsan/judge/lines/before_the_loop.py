"""What every round of a loop takes along, made before the loop began: its graph lasts for one backward."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge.flow import JOINING, LINEAR
from gradsan.judge.lines.callers import function_of, way, way_of
from gradsan.judge.lines.carried_names import innermost_loop
from gradsan.record.events import NOWHERE, Backward, Op, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History


def made_before_loop(history: History, made: Op, event: Backward) -> Site:
    """The line before the loop around this backward that has the value from somewhere: of the value, or of the one
    that it was added to, scaled or laid out from. Nowhere, where the loop itself makes it."""
    found, op, graph = NOWHERE, made, history.graph
    while site := _before(history, op, event):
        found, sources = site, [source for source in graph.inputs(op) if source.live]
        if op.name not in LINEAR | JOINING or len(sources) != 1:
            break
        op = sources[0]
    return found


def _before(history: History, op: Op, event: Backward) -> Site:
    theirs = {function_of(history, site): site for site in reversed(way_of(history, op))}
    for site in way(history, event.site, event.chain):
        before, seen = (
            history.sites.get(theirs.get(function_of(history, site), NOWHERE)),
            history.sites.get(site),
        )
        if before is None or seen is None:
            continue
        loop = innermost_loop(seen.file, seen.line)
        return before.site if loop is not None and before.line < loop.lineno else NOWHERE
    return NOWHERE
