"""Which part each network plays, from what is done with it: who owns it, who is copied from whom, what its
output is used for. Names play no part."""

from __future__ import annotations

from collections.abc import Iterable

from gradsan.judge.history import History
from gradsan.picture.reduction import Reduction
from gradsan.record.events import ParamId


def roles(
    history: History, box_of: dict[ParamId, str], reductions: Iterable[Reduction]
) -> dict[str, list[str]]:
    reductions = list(reductions)
    targets = {box for pid, box in box_of.items() if history.networks.is_target(pid)}
    sources = {
        box_of[source]: box
        for pid, box in box_of.items()
        if box in targets and (source := history.networks.source_of(pid)) in box_of
    }
    actors, critics = _players(history, reductions)
    critics |= {target for source, target in sources.items() if source in critics}
    actors |= {target for source, target in sources.items() if source in actors}
    found: dict[str, list[str]] = {}
    for box in set(box_of.values()):
        parts = [
            ("shared" if box in critics else "actor") if box in actors else "",
            "critic" if box in critics and box not in actors else "",
            "target" if box in targets else "",
            "online" if box in sources and box not in targets else "",
        ]
        found[box] = [part for part in parts if part]
    return found


def _players(history: History, reductions: list[Reduction]) -> tuple[set[str], set[str]]:
    actors: set[str] = set()
    critics: set[str] = set()
    for reduction in reductions:
        functions = {k.box for k in reduction.nodes.values() if k.box and k.is_function}
        critics |= reduction.weighing & functions
        actors |= reduction.acting & functions
        for key, node in reduction.nodes.items():
            if node.box in functions:
                critics |= _judges(history, reduction, key, _downstream(reduction, key))
    critics -= actors
    for reduction in reductions:  # a trunk is what its heads are
        for key in sorted(reduction.nodes, reverse=True):
            box = reduction.nodes[key].box
            if box and box not in actors | critics:
                following = {reduction.nodes[k].box for k in _downstream(reduction, key)}
                for group in (actors, critics):
                    if following & group and _same_owner(history, reduction, key, following & group):
                        group.add(box)
    actors |= {
        reduction.nodes[a].box for reduction in reductions for a in _led_by(history, reduction, critics)
    }
    return actors, critics


def _downstream(reduction: Reduction, key: int) -> set[int]:
    """The next boxes that the output of a box goes into, as far as gradient comes back from there."""
    boxes: set[int] = set()
    stack, seen, live = [key], {key}, reduction.nodes[key].live
    while stack:
        current = stack.pop()
        for source, target in reduction.edges:
            if source == current and target not in seen and reduction.nodes[target].live == live:
                seen.add(target)
                if reduction.nodes[target].box:
                    boxes.add(target)
                else:
                    stack.append(target)
    return boxes


def _judges(history: History, reduction: Reduction, key: int, following: set[int]) -> set[str]:
    """Gradient passes through these boxes to one that another optimizer trains: they judge what it does."""
    live = reduction.nodes[key].live
    return {
        reduction.nodes[k].box
        for k in following
        if live
        and reduction.nodes[k].live
        and not _same_owner(history, reduction, key, {reduction.nodes[k].box})
    }


def _led_by(history: History, reduction: Reduction, critics: set[str]) -> set[int]:
    """Boxes whose output a critic that somebody else trains takes: a deterministic actor."""
    found = set()
    for key, node in reduction.nodes.items():
        if node.box and node.live and node.is_function and node.box not in critics:
            following = _downstream(reduction, key)
            if {reduction.nodes[k].box for k in following} & critics and _judges(
                history, reduction, key, following
            ):
                found.add(key)
    return found


def _same_owner(history: History, reduction: Reduction, key: int, boxes: set[str]) -> bool:
    own = {o.oid for pid in reduction.nodes[key].pids for o in history.owner_of(pid)}
    theirs = {
        o.oid
        for k in reduction.nodes.values()
        if k.box in boxes
        for pid in k.pids
        for o in history.owner_of(pid)
    }
    return bool(own & theirs) or not own or not theirs
