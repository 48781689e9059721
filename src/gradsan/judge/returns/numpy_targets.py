"""One-step targets that were computed outside of torch: next values left by `.numpy()`, a target came back.

No tap sees the arithmetic in between. But the next values are known, and so are the rewards: where one discount turns
the one into the other at every row that goes on, `target = reward + discount * next value` is what was computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.experience import Row
from gradsan.judge.history import History
from gradsan.judge.lines.arrival_lines import ARRIVING
from gradsan.judge.objective.weighed import Met
from gradsan.judge.returns.one_by_one import MOST_ACTIONS, is_discounted, next_values
from gradsan.record.events import Op

LEAVING = ("numpy", "array", "tolist")
FEWEST = 4
SLOWEST, FASTEST = 1.0 + 1e-4, 0.3  # discounts


class Outside(NamedTuple):
    """`target = reward + discount * next value`, computed where nobody saw it; `values`: those of each row, as far as
    they are known."""

    discount: float
    values: list[tuple[float, ...]]

    def holds(self, row: int, rest: float) -> bool:
        """Whether this is what a next value of the row makes of it."""
        return any(is_discounted(value, self.discount, rest) for value in self.values[row])


def takes_next_values(
    history: History, met: Met, rows: list[Row], given: list[Row] | None = None
) -> Outside | None:
    """`given`: the steps whose rewards the targets hold, where these are others."""
    if met.constant is None or arrival(history, met.constant) is None:
        return None
    rest = beside_rewards(met, rows, given or rows)
    for values in _next_values(history, rows):
        if discount := turns_into(values, rest):
            return Outside(discount, values)
    return None


def beside_rewards(met: Met, rows: list[Row], given: list[Row]) -> list[float | None]:
    """What each target holds that goes on."""
    return [
        None if row is None or row.end or paid is None else number - paid.reward
        for row, paid, number in zip(rows, given, met.numbers, strict=True)
    ]


def successors(history: History, target: Op, rows: list[Row]) -> tuple[Row, ...]:
    """What a value was computed from: where each row's transition has led, as far as it is known. Nothing where it is
    in another order."""
    book = history.experience
    for nid in history.graph.ancestors([target.nid]):
        for after in book.led_to(nid):
            if len(after) == len(rows) < 2 * sum(a == row for a, row in zip(after, rows, strict=True)):
                return after
    return ()


def next_starts(history: History, target: Op, rows: list[Row]) -> set[int]:
    """The rows that ended an episode, and whose next value was computed from what the next one begins with."""
    book, ended = history.experience, [i for i, row in enumerate(rows) if row is not None and row.end]
    for nid in history.graph.ancestors([target.nid]) if ended else ():
        after, seen = book.successors.get(nid, ()), book.observations.get(nid, ())
        if len(after) == len(seen) == len(rows) and any(a == row for a, row in zip(after, rows, strict=True)):
            return {i for i in ended if _comes_next(rows[i], seen[i])}
    return set()


def _comes_next(row: Row, other: Row) -> bool:
    return row is not None and other is not None and other[:2] == (row.stream, row.step + 1)


def arrival(history: History, op: Op) -> Op | None:
    """Where a value came into torch, if it did and nothing was added to it."""
    while op.name not in ARRIVING:
        sources = [source for source in history.graph.inputs(op) if source.floating]  # not the chosen rows
        if len(sources) != 1:
            return None
        op = sources[0]
    return op


def _next_values(history: History, rows: list[Row]) -> Iterator[list[tuple[float, ...]]]:
    """Of every value that has left torch and was computed from where these rows lead: its numbers, row by row."""
    if found := next_values(history, rows):
        yield found
    graph, numbers = history.graph, history.experience.numbers
    for nid, flat in numbers.items():
        op, width = graph.get(nid), len(flat) // len(rows)
        if op is None or len(flat) != width * len(rows) or not 0 < width <= MOST_ACTIONS:
            continue
        left = any(
            (user := graph.get(n)) is not None and user.name in LEAVING for n in graph.consumers.get(nid, ())
        )
        if left and successors(history, op, rows):
            yield [flat[at : at + width] for at in range(0, len(flat), width)]


def turns_into(values: list[tuple[float, ...]], rest: list[float | None]) -> float:
    """The discount that makes of one of the values of each row what the target holds beside its reward; 0 where none
    does."""
    known = [(row, number) for row, number in zip(values, rest, strict=True) if number and row]
    if len(known) < FEWEST:
        return 0.0
    first, number = known[0]
    discounts = {number / value for value in first if value}
    fitting = (
        discount
        for discount in discounts
        if FASTEST < discount < SLOWEST
        and all(any(is_discounted(value, discount, n) for value in row) for row, n in known)
    )
    return next(fitting, 0.0)
