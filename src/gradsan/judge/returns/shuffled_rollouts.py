"""Targets of a rollout that were computed outside of torch, and that a loss sees in shuffled parts, one by one.

A target stays what it is from part to part. What it was made of is what the network has said while the rollout ran; it
says the same in the first part, before its first step on this rollout, and something else in all that follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gradsan.judge.returns.return_laws import ReturnRow, Series

Key = tuple[int, int]  # stream and step


class ShuffledRollout:
    """What one line of the loss has seen of the newest rollout."""

    def __init__(self) -> None:
        self._rows: dict[Key, ReturnRow] = {}
        self._first: set[Key] = set()
        self._said: dict[Key, float] = {}
        self._is_read = False
        self.begins = True  # the part that was added last is the first of its rollout

    def add(self, rows: Sequence[ReturnRow], said: Callable[[], dict[Key, float]]) -> Series | None:
        """All rows, once, as soon as one of them comes again, or the first of the next rollout: then all have been
        there. `said`: predictions that were made while the rollout ran."""
        part = {_key(row): row for row in rows}
        self.begins = self._is_newer(part)
        if self.begins:
            whole = self._series() if not self._is_read and len(self._rows) > len(self._first) else None
            self._rows, self._first, self._said, self._is_read = part, set(part), said(), False
            return whole
        again = part.keys() & self._rows.keys()
        if self._is_read or any(part[key].number != self._rows[key].number for key in again):
            self._is_read = True  # what is computed anew for every part is another series each time
            return None
        self._rows |= {key: replace(part[key], prediction=self._said.get(key)) for key in part.keys() - again}
        self._is_read = bool(again)
        return self._series() if again and len(self._rows) > len(self._first) else None

    def _is_newer(self, part: dict[Key, ReturnRow]) -> bool:
        newest: dict[int, int] = {}
        for stream, step in self._rows:
            newest[stream] = max(step, newest.get(stream, -1))
        return all(step > newest.get(stream, -1) for stream, step in part)

    def _series(self) -> Series:
        """Ends within the first part have been seen with it."""
        series = Series(list(self._rows.values()))
        series.pairs = [pair for pair in series.pairs if pair[1].prediction is not None]
        series.borders = [
            (one, other)
            for one, other in series.borders
            if other.prediction is not None and not {_key(one), _key(other)} <= self._first
        ]
        return series


def _key(row: ReturnRow) -> Key:
    return row.transition.stream, row.transition.step
