"""What was made of a value for the rounds to come: a running mean that is moved by the error together with its graph.

The error itself belongs to its own loss, by right; the line to change is the one that makes of it what is carried over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge.lines.callers import Way, function_of, way_of

if TYPE_CHECKING:
    from gradsan.judge.history import History
    from gradsan.judge.order.freed_graphs import FreedGraph
    from gradsan.record.events import Op


def made_to_carry(history: History, freed: FreedGraph) -> Op | None:
    """The last that was made of the shared value in its own round and came to a loss of a later one. Lines above that
    of the loss are the next round's, once the loss was made. None, where the later loss stands below the first: both
    may be of one round."""
    graph = history.graph
    first, root = (graph.get(event.roots[0].nid) for event in (freed.first.event, freed.event))
    if first is None or root is None or is_below(history, way_of(history, root), way_of(history, first)):
        return None
    found = None
    for op in freed.onward.values():
        if op.nid > first.nid and not is_below(history, way_of(history, op), way_of(history, first)):
            break
        found = op if op is not freed.shared else found
    return found


def is_below(history: History, path: Way, other: Way) -> bool:
    """Whether the innermost call that both run through does it further down."""
    theirs = {(function_of(history, site), other[up + 1 :]): site for up, site in enumerate(other)}
    for up, site in enumerate(path):
        if (met := theirs.get((function_of(history, site), path[up + 1 :]))) is not None:
            here, there = history.sites.get(site), history.sites.get(met)
            return here is not None and there is not None and here.line > there.line
    return False
