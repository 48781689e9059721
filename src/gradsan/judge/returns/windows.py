"""Targets over several steps: `r + γ·r' + γ²·r'' + γ³·V`, row by row of a batch.

How many steps a row spans is told by the observation that its last value was computed from; what they have brought, by
what the environment said. The discount is the one that makes every whole window come out right, or there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gradsan.judge.experience import Row
from gradsan.judge.history import History
from gradsan.record.events import Op, Transition

LONGEST, FEWEST = 32, 8
EXACT = 1e-4  # of a sum: single precision
STARTS = (0.99, 0.95, 0.9, 0.8, 0.6, 1.0)


class Window(NamedTuple):
    """`rewards`: of its steps, in order. `inside`: how many of them belong to the episode that it began in."""

    last: Transition
    rewards: tuple[float, ...]
    inside: int

    @property
    def is_whole(self) -> bool:
        return self.inside == len(self.rewards)

    def total(self, discount: float, steps: int | None = None) -> float:
        return sum(discount**k * reward for k, reward in enumerate(self.rewards[:steps]))


def windows_behind(history: History, target: Op, rows: Sequence[Row], by: int = 0) -> list[Window | None]:
    """Of each row the steps from its own to the one whose next state it bootstraps from, or as many that lie `by` steps
    later; nothing where most rows are about one step, or where the last states are in another order."""
    book = history.experience
    for nid in history.graph.ancestors([target.nid]):
        after = book.successors.get(nid, ())
        if len(after) != len(rows):
            continue
        spans = [_span(row, last) for row, last in zip(rows, after, strict=True)]
        usual, times = Counter(spans).most_common(1)[0]
        if usual > 1 and 2 * times > len(rows):
            return [
                _window(history, row, span, by) if row is not None and span else None
                for row, span in zip(rows, spans, strict=True)
            ]
    return []


def _span(row: Row, last: Row) -> int:
    """How many steps; 0 where that cannot be told."""
    if row is None or last is None or row.stream != last.stream:
        return 0
    return last.step - row.step + 1 if 0 <= last.step - row.step < LONGEST else 0


def _window(history: History, row: Transition, span: int, by: int) -> Window | None:
    known = history.experience.transitions
    steps = [known.get((row.stream, row.step + by + k)) for k in range(span)]
    if any(step is None or step.end == "reset" for step in steps):
        return None
    found = [step for step in steps if step is not None]
    ends = [k for k, step in enumerate(found[:-1]) if step.end]
    return Window(found[-1], tuple(step.reward for step in found), ends[0] + 1 if ends else span)


def discount_of(windows: Sequence[Window | None], totals: Sequence[float]) -> float:
    """What turns the rewards of every window of one episode into its total; 0 where nothing does."""
    whole = [(w, t) for w, t in zip(windows, totals, strict=True) if w is not None and w.is_whole]
    if len(whole) < FEWEST:
        return 0.0
    for start in STARTS:
        discount = _fitted(whole, start)
        if 0.3 < discount < 1.0 + EXACT and all(is_near(w.total(discount), t) for w, t in whole):
            return min(discount, 1.0)
    return 0.0


def _fitted(whole: list[tuple[Window, float]], discount: float) -> float:
    """Least squares, by Gauss and Newton."""
    for _ in range(12):
        slopes = [sum(k * discount ** (k - 1) * r for k, r in enumerate(w.rewards) if k) for w, _ in whole]
        misses = [total - w.total(discount) for w, total in whole]
        size = sum(s * s for s in slopes)
        if not size:
            break
        discount = min(
            1.5, max(0.05, discount + sum(s * m for s, m in zip(slopes, misses, strict=True)) / size)
        )
    return discount


def crossings(windows: Sequence[Window | None], totals: Sequence[float], discount: float) -> tuple[int, int]:
    """Of the windows that an end lies in: how many go on beyond it, and how many stop there."""
    crossed = stopped = 0
    for window, total in zip(windows, totals, strict=True):
        if window is None or window.is_whole:
            continue
        on, cut = window.total(discount), window.total(discount, window.inside)
        if is_near(on, cut):
            continue  # nothing to tell them apart by
        crossed += is_near(on, total)
        stopped += is_near(cut, total)
    return crossed, stopped


def is_near(a: float, b: float) -> bool:
    return abs(a - b) <= EXACT * max(1e-2, abs(a), abs(b))
