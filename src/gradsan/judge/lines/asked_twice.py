"""Which line asks one network a second time, where another was meant."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from gradsan.judge.lines.callers import used_in, way_of
from gradsan.judge.lines.source import around
from gradsan.record.events import Op, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History


def asked_again_at(history: History, first: Op, again: Op, by: Op) -> Site:
    """The outermost line in which the ways of the two questions differ: all that lies outside of it was called once.
    Where they are the same, the line that has the same call twice; else the call as `by` sees it."""
    before, way = way_of(history, first), way_of(history, again)
    for one, other in zip(reversed(before), reversed(way), strict=False):
        if one != other:
            return other
    twice = (site for site in way if _calls_twice(history, site))
    return next(twice, used_in(history, again, by))


def _calls_twice(history: History, site: Site) -> bool:
    """`return self.q1(x), self.q1(x)`."""
    seen = history.sites.get(site)
    statement = around(seen.file, seen.line)[1] if seen is not None else None
    calls = (ast.unparse(n) for n in ast.walk(statement) if isinstance(n, ast.Call)) if statement else ()
    return max(Counter(calls).values(), default=0) > 1
