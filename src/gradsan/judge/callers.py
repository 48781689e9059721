"""Who handed a helper what it was given: the line to change is often the one that called it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.record.events import Chain, Op, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History

Way = tuple[Site, ...]  # a line and those it was called from, the innermost first


def way(history: History, site: Site, chain: Chain) -> Way:
    return (site, *history.chains.get(chain, ()))


def way_of(history: History, op: Op) -> Way:
    return way(history, op.site, op.chain)


def meeting(history: History, of: Way, other: Way) -> int:
    """How many callers up the first way runs through a function that the other runs through, too; 0 where they
    meet in the line's own function, or nowhere."""
    theirs = {_function(history, site) for site in other}
    return next((up for up, site in enumerate(of) if _function(history, site) in theirs), 0)


def used_in(history: History, use: Op, by: Op) -> Site:
    """The line of a use as the code sees it that made `by`: the call of a network, not a line in its forward."""
    path = way_of(history, use)
    return path[meeting(history, path, way_of(history, by))]


def handed_in(history: History, where: Op, value: Op) -> Site:
    """The line to change where `where` goes wrong with `value`: the caller that handed it in, if the same line also
    serves others who do it right; else the line itself."""
    path = way_of(history, where)
    others = (op for op in history.graph.ops.values() if op.site == where.site and op.chain != where.chain)
    if len(path) == 1 or not any(op.name == where.name and not op.live for op in others):
        return where.site
    return path[meeting(history, path, way_of(history, value))]


def _function(history: History, site: Site) -> tuple[str, str]:
    seen = history.sites.get(site)
    return ("", str(site)) if seen is None else (seen.file, seen.function)
