"""Next values that leave torch one at a time: `reward + discount * q(next_obs).max().item()`, row by row of a batch, or
of one step while the agent acts.

No tap sees the sum. Each number that left was computed from one observation, which says what step has led there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.experience import Row
from gradsan.judge.flow import first_scalar
from gradsan.judge.history import History
from gradsan.judge.lines.summed_numbers import added_to_at
from gradsan.judge.objective.weighed import DIFFERENCES, Met, met_in
from gradsan.record.events import NOWHERE, Backward, Op, Site, Transition

LEAVING = ("item", "tolist", "float", "numpy", "array")
MOST_ACTIONS = 64
PRECISION = 1e-4  # of a value: single precision, and a discount that is found by division


class LeftAlone(NamedTuple):
    """What was said of the state that one step has led to, and the operation that took it out of torch."""

    numbers: tuple[float, ...]
    by: Op


def left_one_by_one(history: History) -> dict[Transition, list[LeftAlone]]:
    """By the step that has led there; the state may have been asked about in its own right as well."""
    remembered = history.graph.remembered
    if "left one by one" not in remembered:
        remembered["left one by one"] = by_step = defaultdict[Transition, list[LeftAlone]](list)
        for row, left in _left(history):
            by_step[row].append(left)
    found: dict[Transition, list[LeftAlone]] = remembered["left one by one"]
    return found


def _left(history: History) -> Iterator[tuple[Transition, LeftAlone]]:
    graph, book = history.graph, history.experience
    for nid, numbers in book.numbers.items():
        users = (graph.get(user) for user in graph.consumers.get(nid, ()))
        by = next((user for user in users if user is not None and user.name in LEAVING), None)
        if by is None or len(numbers) > MOST_ACTIONS:
            continue
        behind = graph.ancestors([nid], lambda user, _: user.kind == "operation")
        led = {rows[0] for n in behind if len(rows := book.successors.get(n, ())) == 1}
        if len(led) == 1 and (row := led.pop()) is not None:
            yield row, LeftAlone(numbers, by)


def next_values(history: History, rows: list[Row]) -> list[tuple[float, ...]]:
    """Row by row, as far as it is known; nothing where hardly any is."""
    left = left_one_by_one(history)
    found = [tuple([n for one in left.get(row, ()) for n in one.numbers]) if row else () for row in rows]
    return found if any(found) else []


def summed_at(history: History, rows: list[Row], rest: list[float | None], discount: float) -> Site:
    """The line that adds them to the rewards: the one they have left on, most of all. Nowhere, where they have left all
    at once."""
    left, lines = left_one_by_one(history), Counter[Site]()
    for row, number in zip(rows, rest, strict=True):
        for one in left.get(row, ()) if row is not None and number else ():
            if any(is_discounted(value, discount, number or 0.0) for value in one.numbers):
                lines[one.by.site] += 1
    return added_to_at(history, lines.most_common(1)[0][0]) if lines else NOWHERE


def is_discounted(value: float, discount: float, number: float) -> bool:
    return abs(discount * value - number) <= PRECISION * max(1e-2, abs(number))


def plain_targets(history: History, event: Backward) -> Iterator[Met]:
    """One prediction each, compared with one number: a constant, or one that Python holds."""
    graph = history.graph
    yield from (m for m in met_in(history, event) if m.op.name in DIFFERENCES and len(m.numbers) == 1)
    for op in graph.named(graph.live_ancestors(root.nid for root in event.roots), ("sub", "rsub")):
        sides = list(graph.inputs(op))
        if len(sides) == len(op.facts.scalars) == 1 and _holds_one(op):
            yield Met(op, sides[0], None, (first_scalar(op),))


def _holds_one(op: Op) -> bool:
    return all(size == 1 for size in op.shape)
