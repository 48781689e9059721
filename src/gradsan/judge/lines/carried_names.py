"""Which line made what a second backward found used up, for a forward that nobody traced.

A loop sends a loss backward in each round. What has a part in it and was made before the loop, or is handed on from
round to round, is the same graph every time.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradsan.judge.lines.source import around, function_at, tree_of
from gradsan.record.events import NOWHERE, Backward, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History

Assignment = ast.Assign | ast.AnnAssign | ast.AugAssign


def carried_by_source(history: History, event: Backward) -> Site:
    """The line before the loop that binds a variable of this loss, the first of those that are made of each other; else
    the one that hands it on in the loop."""
    for site in (event.site, *history.chains.get(event.chain, ())):
        names = {known.name: known.root for known in event.facts.carried if known.site == site}
        if found := _carried_into(history, site, names):
            return found
    return NOWHERE


def _carried_into(history: History, site: Site, known: dict[str, bool]) -> Site:
    """`known`: the variables of this frame, and whether each is the loss itself. One that was made before the loop is
    another loss than the one that is meant."""
    seen, names = history.sites.get(site), set(known)
    loop = innermost_loop(seen.file, seen.line) if seen is not None and names else None
    if seen is None or loop is None:
        return NOWHERE
    scope = around(seen.file, seen.line)[0] or tree_of(seen.file)
    bound = [n for n in ast.walk(scope) if isinstance(n, Assignment)] if scope is not None else []
    inside = [n for n in bound if loop.lineno < n.lineno <= (loop.end_lineno or 0)]
    made_anew = {name for statement in inside for name in _bound_by(statement)}
    if any(root and name not in made_anew for name, root in known.items()):
        return NOWHERE
    before = [n for n in bound if n.lineno < loop.lineno and _bound_by(n) & (names - made_anew)]
    handed_on = [n for n in inside if _bound_by(n) & names & _read_by(n)]
    found = max(before or handed_on, key=lambda n: n.lineno, default=None)
    while before and found is not None and (source := _made_of(found, before)) is not None:
        found = source
    if found is None:
        return NOWHERE
    return history.site_at(seen.file, found.lineno, function_at(seen.file, found.lineno))


def _made_of(statement: Assignment, others: list[Assignment]) -> Assignment | None:
    """The last of these before the statement that binds what it reads."""
    earlier = [n for n in others if n.lineno < statement.lineno and _bound_by(n) & _read_by(statement)]
    return max(earlier, key=lambda n: n.lineno, default=None)


def innermost_loop(file: str, line: int) -> ast.For | ast.While | None:
    """In the function that the line belongs to."""
    scope = around(file, line)[0] or tree_of(file)
    loops = [
        n
        for n in (ast.walk(scope) if scope is not None else ())
        if isinstance(n, ast.For | ast.While) and n.lineno <= line <= (n.end_lineno or 0)
    ]
    return loops[-1] if loops else None


def _bound_by(statement: Assignment) -> set[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    found = (n for target in targets for n in ast.walk(target))
    return {n.id for n in found if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _read_by(statement: Assignment) -> set[str]:
    read = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return read | (_bound_by(statement) if isinstance(statement, ast.AugAssign) else set())
