"""What every round of a loop takes along, made before the loop began: its graph lasts for one backward."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge.flow import JOINING, LINEAR
from gradsan.judge.lines.callers import Way, caller_apart, function_of, way, way_of
from gradsan.judge.lines.carried_names import innermost_loop
from gradsan.judge.provenance import params_of
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


def asked_before_loop(history: History, made: Op, event: Backward, stored: Op | None) -> Site:
    """The one line that asked a network for all that is live in a value from before the loop, where the loop asks the
    same network itself: there, gradients were to be off. Nowhere, where the graph comes to the loss only through the
    line that stores it: that is as good a place for a `detach`."""
    graph = history.graph
    if not _before(history, made, event):
        return NOWHERE
    mine = graph.live_ancestors(root.nid for root in event.roots)
    behind = graph.live_ancestors([made.nid])
    asks = [op for op in behind.values() if any(map(params_of, graph.inputs(op)))]
    right = [
        way_of(history, op)
        for op in mine.values()
        if op.nid not in behind and any(map(params_of, graph.inputs(op)))
    ]
    right = [path for path in right if not _is_before(history, path, event)]
    lines = {caller_apart(history, way_of(history, op), right) for op in asks}
    if len(lines) != 1 or lines <= {op.site for op in asks}:
        return NOWHERE
    return lines.pop() if stored is None or _goes_around(history, asks, stored, event) else NOWHERE


def _goes_around(history: History, asks: list[Op], stored: Op, event: Backward) -> bool:
    """Whether what was asked for comes to the loss on another way than through what stores it."""
    roots = [root.nid for root in event.roots]
    past = history.graph.ancestors(roots, lambda user, _: user.live and user.nid != stored.nid)
    return any(op.nid in past for op in asks)


def _before(history: History, op: Op, event: Backward) -> Site:
    return _above(history, way_of(history, op), event)


def _is_before(history: History, path: Way, event: Backward) -> bool:
    return bool(_above(history, path, event))


def _above(history: History, path: Way, event: Backward) -> Site:
    theirs = {function_of(history, site): site for site in reversed(path)}
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
