"""Targets that are distributions over fixed values (C51): each row is `reward + discount * values`, put back on them.

At an end the reward is all there is, so the row has one value, or the two beside it. Spread over more, it is the
distribution of a state after which nothing follows. A row may have one value for another reason (beyond the largest
one), and a spread of its own where it was not moved but drawn around a number; so only what was moved counts, and only
ends that are known for sure."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.history import History
from gradsan.judge.objective.weighed import Met, is_score, origin
from gradsan.judge.returns.bootstraps import Bootstrap, Rest
from gradsan.judge.returns.numpy_targets import successors
from gradsan.record.events import Backward, Op, Site

LOSSES = {"kl_div", "cross_entropy"}
MOVING = {"index_add", "scatter_add", "index_put"}
JOINING = {"add", "sub", "lerp", "where"}
FEWEST_VALUES = 5
BESIDE = 2  # values that one number lies between
EMPTY, WHOLE = 1e-6, 1e-3


def projected_targets(history: History, event: Backward) -> Iterator[Bootstrap]:
    if not history.experience.successors:
        return
    for met in _compared(history, event):
        assert met.constant is not None
        rows = _distributions(met)
        known = bool(rows) and _was_moved(history, met.constant)
        found = _bootstrap(history, met, met.constant, rows) if known else None
        if found is not None:
            yield found


def _compared(history: History, event: Backward) -> Iterator[Met]:
    """Constants `[B, N]` that meet log-probabilities, or the logits in a library's loss."""
    graph, book = history.graph, history.experience
    for op in graph.named(graph.live_ancestors(root.nid for root in event.roots), {"mul", *LOSSES}):
        sides = list(graph.inputs(op))
        live, constant = [s for s in sides if s.live], [s for s in sides if not s.live]
        if len(live) != 1 or len(constant) != 1 or len(constant[0].shape) != 2:
            continue
        numbers = book.numbers.get(constant[0].nid)
        if numbers is not None and (op.name in LOSSES or is_score(history, live[0])):
            yield Met(op, live[0], constant[0], numbers)


def _distributions(met: Met) -> list[tuple[float, ...]]:
    """The rows of a constant, where each has no negative number and sums to one."""
    assert met.constant is not None
    count, width = met.constant.shape
    if width < FEWEST_VALUES or count * width != len(met.numbers):
        return []
    rows = [met.numbers[at : at + width] for at in range(0, len(met.numbers), width)]
    return rows if all(min(row) >= -EMPTY and abs(sum(row) - 1.0) < WHOLE for row in rows) else []


def _was_moved(history: History, target: Op) -> bool:
    """Whether what a network says of other values was added up at those of this target, and nothing else that is
    learned since: a share of the network's own distribution stays at an end."""
    graph = history.graph
    behind = graph.ancestors([target.nid])
    moving = [op.nid for op in behind.values() if op.name in MOVING]
    before = graph.ancestors(moving)
    joined = (op for op in behind.values() if op.nid not in before and op.name in JOINING)
    if any(all(graph.value_params([nid]) for nid in op.inputs) for op in joined if len(op.inputs) > 1):
        return False
    return bool(graph.value_params(moving))


def _bootstrap(history: History, met: Met, target: Op, spread: list[tuple[float, ...]]) -> Bootstrap | None:
    for rows in history.experience.readings_behind(met.live, len(spread)):
        after = successors(history, target, rows)
        rest = [
            Rest(row, float(_values_in(own) > BESIDE), next_row == row)
            for row, next_row, own in zip(rows, after, spread, strict=False)
            if row is not None and row.end in ("", "terminated")
        ]
        if rest:
            return Bootstrap(met, _moved_by(history, target), rest)
    return None


def _values_in(row: tuple[float, ...]) -> int:
    """How many values a row has, but for what all of them have alike (smoothed labels)."""
    return sum(share > min(row) + EMPTY for share in row)


def _moved_by(history: History, target: Op) -> Site:
    """Where the rewards are added to the values, before any network has a part in it."""
    behind, shape = history.graph.ancestors([target.nid]), target.shape
    added = [op for op in behind.values() if op.name == "add" and op.shape == shape]
    plain = [op for op in added if op.site and not history.graph.value_params([op.nid])]
    return min(plain, key=lambda op: op.nid).site if plain else origin(history, target)
