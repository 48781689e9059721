"""Which part each network plays, from what is done with it: who owns it, who is copied from whom, what its
output is used for. Names play no part."""

from __future__ import annotations

from collections.abc import Iterable

from gradsan.judge.picture.sketch import Sketch
from gradsan.record.history import History


def roles(history: History, box_of: dict[int, str], sketches: Iterable[Sketch]) -> dict[str, list[str]]:
    sketches = list(sketches)
    targets = {box for pid, box in box_of.items() if history.networks.is_target(pid)}
    sources = {
        box_of[source]: box
        for pid, box in box_of.items()
        if box in targets and (source := history.networks.source_of(pid)) in box_of
    }
    actors, critics = _players(history, sketches)
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


def _players(history: History, sketches: list[Sketch]) -> tuple[set[str], set[str]]:
    actors: set[str] = set()
    critics: set[str] = set()
    for sketch in sketches:
        functions = {k.box for k in sketch.knots.values() if k.box and k.is_function}
        critics |= sketch.weighing & functions
        actors |= sketch.acting & functions
        for key, knot in sketch.knots.items():
            if knot.box in functions:
                critics |= _judges(history, sketch, key, _downstream(sketch, key))
    critics -= actors
    for sketch in sketches:  # a trunk is what its heads are
        for key in sorted(sketch.knots, reverse=True):
            box = sketch.knots[key].box
            if box and box not in actors | critics:
                following = {sketch.knots[k].box for k in _downstream(sketch, key)}
                for group in (actors, critics):
                    if following & group and _same_owner(history, sketch, key, following & group):
                        group.add(box)
    actors |= {sketch.knots[a].box for sketch in sketches for a in _led_by(history, sketch, critics)}
    return actors, critics


def _downstream(sketch: Sketch, key: int) -> set[int]:
    """The next boxes that the output of a box goes into, as far as gradient comes back from there."""
    boxes: set[int] = set()
    stack, seen, live = [key], {key}, sketch.knots[key].live
    while stack:
        current = stack.pop()
        for source, target in sketch.edges:
            if source == current and target not in seen and sketch.knots[target].live == live:
                seen.add(target)
                if sketch.knots[target].box:
                    boxes.add(target)
                else:
                    stack.append(target)
    return boxes


def _judges(history: History, sketch: Sketch, key: int, following: set[int]) -> set[str]:
    """Gradient passes through these boxes to one that another optimizer trains: they judge what it does."""
    live = sketch.knots[key].live
    return {
        sketch.knots[k].box
        for k in following
        if live and sketch.knots[k].live and not _same_owner(history, sketch, key, {sketch.knots[k].box})
    }


def _led_by(history: History, sketch: Sketch, critics: set[str]) -> set[int]:
    """Boxes whose output a critic that somebody else trains takes: a deterministic actor."""
    found = set()
    for key, knot in sketch.knots.items():
        if knot.box and knot.live and knot.is_function and knot.box not in critics:
            following = _downstream(sketch, key)
            if {sketch.knots[k].box for k in following} & critics and _judges(
                history, sketch, key, following
            ):
                found.add(key)
    return found


def _same_owner(history: History, sketch: Sketch, key: int, boxes: set[str]) -> bool:
    own = {o.oid for pid in sketch.knots[key].pids for o in history.owner_of(pid)}
    theirs = {
        o.oid
        for k in sketch.knots.values()
        if k.box in boxes
        for pid in k.pids
        for o in history.owner_of(pid)
    }
    return bool(own & theirs) or not own or not theirs
