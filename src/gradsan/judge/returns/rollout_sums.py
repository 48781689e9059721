"""`returns = advantages + values` of a whole rollout, of which a loss sees a few shuffled rows at a time.

The rows that it sees are about known transitions; found again by their value in the sum, they tell which place of the
rollout is which transition, and so all of it can be read."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence

from gradsan.judge.flow import SELECTING, SHAPING, TAKEN_OUT
from gradsan.judge.history import History
from gradsan.judge.objective.weighed import Met
from gradsan.judge.returns.newest_rollouts import newest_rollouts
from gradsan.judge.returns.return_laws import ReturnRow
from gradsan.record.events import Op

FEWEST = 8  # rows that must be found again
Layout = Callable[
    [int], tuple[int, int]
]  # a place in the rollout: which copy, and how many steps from the first


def rollouts(history: History, met: Met, seen: Sequence[ReturnRow]) -> Iterator[tuple[Op, list[ReturnRow]]]:
    """The sum, and its rows with either summand for the prediction: one of them is."""
    found = sum_behind(history, met)
    if found is None:
        return
    op, left, right = found
    total = [single(a + b) for a, b in zip(left, right, strict=True)]
    if len(seen) < FEWEST:
        for values in (left, right):
            yield from ((op, rows) for rows in newest_rollouts(history.experience, op, total, values))
        return
    streams = sorted({entry.transition.stream for entry in seen})
    where = places_of(total, [entry.number for entry in seen])
    for layout in _layouts(len(total), len(streams)):
        base = _base(streams, layout, seen, where)
        if base is None:
            continue
        for values in (left, right):
            rows = []
            for place, (number, value) in enumerate(zip(total, values, strict=True)):
                copy, step = layout(place)
                transition = history.experience.transitions.get((streams[copy], base + step))
                if transition is not None:
                    rows.append(ReturnRow(transition, number, value))
            yield op, rows
        return


def values_alone(history: History, met: Met) -> Op | None:
    """The sum, where one summand is zero throughout and the other what the very network has predicted."""
    found = sum_behind(history, met)
    if found is None or len(found[1]) < FEWEST:
        return None
    op, graph, own = found[0], history.graph, history.graph.live_params([met.live.nid])
    for zeros, nid in ((found[1], op.inputs[1]), (found[2], op.inputs[0])):
        other = found[2] if zeros is found[1] else found[1]
        if not any(zeros) and any(other) and own & graph.value_params([nid]):
            return op
    return None


def sum_behind(history: History, met: Met) -> tuple[Op, tuple[float, ...], tuple[float, ...]] | None:
    graph, numbers, op = history.graph, history.experience.numbers, met.constant
    while op is not None and op.name in SELECTING | SHAPING | TAKEN_OUT | {"alias"} and op.inputs:
        op = graph.get(op.inputs[0])
    if op is None or op.name != "add" or len(op.inputs) != 2:
        return None
    left, right = (numbers.get(nid, ()) for nid in op.inputs)
    return (op, left, right) if len(left) == len(right) >= len(met.numbers) else None


def places_of(total: list[float], seen: Sequence[float]) -> list[int]:
    """Where each row is in the sum; -1 where it is not, or cannot be told from another."""
    table: dict[float, int] = {}
    for place, number in enumerate(total):
        table[number] = -1 if number in table else place
    return [table.get(single(number), -1) for number in seen]


def _layouts(size: int, copies: int) -> Iterator[Layout]:
    if copies and size % copies == 0:
        yield lambda place: (place % copies, place // copies)
        yield lambda place: (place // (size // copies), place % (size // copies))


def _base(streams: list[int], layout: Layout, seen: Sequence[ReturnRow], where: list[int]) -> int | None:
    """The step that the rollout begins with, where all rows agree on it."""
    bases, known = set[int](), 0
    for entry, place in zip(seen, where, strict=True):
        if place >= 0:
            known += 1
            copy, step = layout(place)
            bases.add(entry.transition.step - step if streams[copy] == entry.transition.stream else -1)
    return bases.pop() if known >= FEWEST and len(bases) == 1 and min(bases) >= 0 else None


def single(number: float) -> float:
    """As single precision has it."""
    rounded: float = struct.unpack("f", struct.pack("f", number))[0]
    return rounded
