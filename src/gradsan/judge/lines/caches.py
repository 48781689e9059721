"""What a function keeps for its next call, made when gradients were off.

The caller that came first is right to do without gradients (it acts, or makes a target). The line to change is the one
that keeps what it made: for the others it is a constant.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradsan.judge.lines.callers import Way, function_of, is_one_function, way_of
from gradsan.judge.lines.source import around
from gradsan.record.events import NOWHERE, Op, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History
    from gradsan.judge.ledger import Contribution


def cached_at(history: History, cut: Op, contribution: Contribution) -> Site:
    """The line that keeps this value, which a call without gradients has made and a call with them uses."""
    path = way_of(history, cut) if cut.facts.grad_off else ()
    for other in _uses(history, cut, contribution) if path else ():
        up = _meets(history, path, other)
        if up is not None and not is_one_function(history, cut.facts.grad_off, path[up]):
            return next((site for site in path[: up + 1] if _stores(history, site)), NOWHERE)
    return NOWHERE


def _uses(history: History, cut: Op, contribution: Contribution) -> list[Way]:
    """How the loss comes to the first operations on this value that are not part of the line that makes it."""
    graph, path = history.graph, way_of(history, cut)
    within = graph.ancestors(root.nid for root in contribution.event.roots)
    stack, found = [cut.nid], dict[Way, None]()
    while stack:
        for nid in graph.consumers.get(stack.pop(), ()):
            if nid in within and (way := way_of(history, within[nid])) != path:
                found[way] = None
            elif nid in within:  # the next layer
                stack.append(nid)
    return list(found)


def _meets(history: History, path: Way, other: Way) -> int | None:
    """How many callers up both are in one function, which was called from elsewhere the second time."""
    theirs = [function_of(history, site) for site in other]
    for up, site in enumerate(path):
        if (function := function_of(history, site)) in theirs:
            before, after = path[up + 1 :], other[theirs.index(function) + 1 :]
            return up if before and before != after[: len(before)] else None
    return None


def _stores(history: History, site: Site) -> bool:
    """Into something that outlives the call: an attribute, a place in a container."""
    seen = history.sites.get(site)
    statement = around(seen.file, seen.line)[1] if seen is not None else None
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(target, ast.Attribute | ast.Subscript) for target in targets)
