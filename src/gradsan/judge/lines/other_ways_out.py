"""Which line of a helper gives another form than its other ways out: `return q.gather(1, best)` beside a flat one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradsan.judge.lines.callers import function_of, way_of
from gradsan.judge.lines.source import around
from gradsan.record.events import NOWHERE, Op, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History


def returned_otherwise(history: History, column: Op, met: Op) -> Site:
    """The line that made the column, where that is one of several that its function returns with, and the function only
    has to do with what is met through what it returns."""
    there = {function_of(history, site) for site in way_of(history, met)}
    seen = history.sites.get(column.site)
    if seen is None or function_of(history, column.site) in there:
        return NOWHERE
    function, statement = around(seen.file, seen.line)
    if function is None or function.name == "forward" or not isinstance(statement, ast.Return):
        return NOWHERE
    ways = [n for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None]
    return column.site if len(ways) > 1 else NOWHERE
