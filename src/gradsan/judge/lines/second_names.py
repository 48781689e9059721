"""Where a network got its second name: the line to change where a target turns out to be the online network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge.lines.callers import way
from gradsan.judge.lines.source import (
    Binding,
    arguments_at,
    around,
    bindings,
    given_twice,
    looped_over,
    receiver_at,
    words_at,
)
from gradsan.record.events import NOWHERE, ParamId, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History

Bound = tuple[str, Binding]  # a name, and where it was bound


def alias_line(history: History, targets: list[ParamId], online: list[ParamId], near: Site) -> Site:
    """The line that gives one network to both names, without making anything new: in the file that uses them, or
    in the one that makes the optimizer."""
    where = history.sites.get(near)
    if where is None:
        return NOWHERE
    params = [history.params[pid] for pid in dict.fromkeys((targets[0], *online[:1]))]
    names = [name for param in params for name in (param.name, *param.aliases)]
    own = _own_names(names)
    around = (receiver_at(where.file, where.line), *looped_over(where.file, where.line))
    makers = [
        history.sites[o.site] for pid in online[:1] for o in history.owner_of(pid) if o.site in history.sites
    ]
    trained = {word for at in makers for word in words_at(at.file, at.line)}
    for file in dict.fromkeys((where.file, *(at.file for at in makers))):
        if twice := given_twice(file, {*own}):
            return history.site_at(file, twice, where.function)
        bound = [(name, b) for name in own for b in bindings(file, name)]
        first = _plain(file, [*_parts(names[: 1 + len(params[0].aliases)]), *around])
        both = _handed_on(bound, own) or (_bound_alike(bound) if targets == online else [])
        # Where none is given the other, two networks were made of one set of parameters: the later one.
        found = (
            [pair for pair in both if pair[0] not in trained] or both or first or bound * (targets == online)
        )
        if found:
            _, last = max(found, key=lambda pair: pair[1].line)
            return history.site_at(file, last.line, last.function)
    return NOWHERE


def made_for_both(history: History, shared: ParamId, pair: tuple[ParamId, ParamId]) -> Site:
    """The line that made what two networks have in common, in the function that made the rest of both."""
    ways = [way(history, history.params[p].created, history.params[p].created_by) for p in (shared, *pair)]
    rest = [{_definition(history, site) for site in one} for one in ways[1:]]
    return next((site for site in ways[0] if all(_definition(history, site) in one for one in rest)), NOWHERE)


def _definition(history: History, site: Site) -> tuple[str, int]:
    """Of many functions called `__init__`, which."""
    seen = history.sites.get(site)
    inner = around(seen.file, seen.line)[0] if seen is not None else None
    return seen.file if seen is not None else "", inner.lineno if inner is not None else 0


def _own_names(names: list[str]) -> list[str]:
    """What each name calls the network itself: `agent.q.0.weight` and `agent.target.0.weight` → q, target."""
    paths = [name.split(".") for name in names]
    shared = 0
    while shared < min(len(p) for p in paths) - 1 and len({p[-1 - shared] for p in paths}) == 1:
        shared += 1
    if len({*names}) == 1:
        return _parts(names)
    return list(dict.fromkeys(path[-1 - shared].split("[")[0] for path in paths))


def _parts(names: list[str]) -> list[str]:
    parts = [part.split("[")[0] for name in names for part in reversed(name.split(".")[:-1])]
    return [part for part in dict.fromkeys(parts) if not part.isdigit()]


def _handed_on(bound: list[Bound], own: list[str]) -> list[Bound]:
    """`target = q`, `self.target = models["q"].to(device)`."""
    return [(name, b) for name, b in bound if b.handed and b.given & {*own} - {name}]


def _bound_alike(bound: list[Bound]) -> list[Bound]:
    """Two names are given the same: `self.q = net` and `self.target = net`, or both in one statement."""
    return [
        (name, b)
        for name, b in bound
        if any(other != name and o.function == b.function and o.value == b.value for other, o in bound)
    ]


def _plain(file: str, names: list[str]) -> list[Bound]:
    """The last plain binding of the first name that has one; what a function is given was not made there."""
    for name in names:
        if plain := [
            b for b in bindings(file, name) if b.plain and not b.given <= arguments_at(file, b.line)
        ]:
            return [(name, plain[-1])]
    return []
