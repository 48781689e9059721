"""Rewards of other steps: a batch whose rows are about known transitions, with a column of rewards that belongs to
others.

Each row is known by its observation; what was given there is known as well. Where a target adds other numbers, they are
compared with what was given a step before or after, and with what was given anywhere, as far as a reward is like no
other. Rewards that were changed on the way (clipped, normalised, shaped, given for another goal) fit nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeVar

from gradsan.judge.experience import ExperienceBook, Row
from gradsan.judge.flow import SELECTING, SHAPING, behind_all
from gradsan.judge.history import History
from gradsan.judge.lines.arrival_lines import ARRIVING
from gradsan.judge.lines.stored_rows import reward_stored_at
from gradsan.judge.objective.weighed import DIFFERENCES, WRITTEN, Met, met_in, origin
from gradsan.judge.returns.bootstraps import are_rewards, summed_rewards
from gradsan.judge.returns.numpy_targets import arrival, successors, takes_next_values
from gradsan.judge.returns.windows import discount_of, windows_behind
from gradsan.record.events import Backward, Op, Site, Transition

FEWEST, FEWEST_APART = 12, 6  # rows, and those of them that tell one step from another
FROM_A_BUFFER = SELECTING | SHAPING
Part = TypeVar("Part")
Whose = Literal["", "own", "before", "after", "of another copy", "elsewhere"]


class MisplacedRewards(NamedTuple):
    """`added` puts the rewards into the target that `met` compares; they are those `whose`, at so many `rows`; of
    `several` steps each, where they were summed up."""

    met: Met
    added: Op
    whose: Whose
    rows: int
    several: bool


def rewards_in(history: History, event: Backward) -> Iterator[MisplacedRewards]:
    """Those of every target that tells, with "own" where all is right."""
    book = history.experience
    for met in met_in(history, event):
        if met.op.name not in DIFFERENCES or met.constant is None or len(met.numbers) < FEWEST:
            continue
        readings = list(book.readings_behind(met.live, len(met.numbers)))
        found = summed_rewards(history, met) if readings else None
        if found is None:
            yield from _outside(history, met, readings[:1])
            continue
        added, rewards = found
        kinds = [_whose(history, met.constant, added, rows, rewards) for rows in readings]
        if (whose := "own" if "own" in kinds else kinds[0]) != "":
            known = sum(row is not None for row in readings[0])
            several = bool(windows_behind(history, met.constant, readings[0]))
            yield MisplacedRewards(met, added, whose, known, several)


def _outside(history: History, met: Met, readings: Sequence[list[Row]]) -> Iterator[MisplacedRewards]:
    """Of targets that were computed outside of torch, of next values that had left it."""
    arrived = arrival(history, met.constant) if met.constant is not None else None
    if arrived is None:
        return
    for rows in readings:
        known = sum(row is not None for row in rows)
        if takes_next_values(history, met, rows) is not None:
            yield MisplacedRewards(met, arrived, "own", known, False)
        for by, whose in NEIGHBOURS:
            given = [neighbour(history.experience, row, by) if row is not None else None for row in rows]
            both = [(row.reward, paid.reward) for row, paid in zip(rows, given, strict=True) if row and paid]
            if _are_apart(both, FEWEST) and takes_next_values(history, met, rows, given) is not None:
                yield MisplacedRewards(met, arrived, whose, known, False)


def _whose(history: History, target: Op, added: Op, rows: Sequence[Row], rewards: Sequence[float]) -> Whose:
    book = history.experience
    if windows_behind(history, target, rows):
        return _whose_windows(history, target, rows, rewards)
    own = [(row.reward, used) for row, used in known_rows(rows, rewards) if not row.end]
    if are_rewards(own):
        return "own"
    for by, whose in NEIGHBOURS:
        # Whoever is paid on the next move, of another, sees what comes after that.
        follows = by < 0 or successors(history, target, list(rows))
        if follows and are_of_neighbours(book, rows, rewards, by):
            return whose
    column = _column(history, added)
    return _found_again(book, rows, book.rewards.get(column.nid, ())) if column is not None else ""


def put_at(history: History, found: MisplacedRewards) -> Site:
    """The line that put the rewards where they are: into a buffer of torch's, or beside their observations; or the one
    that drew them. That of the target, where none is known."""
    column, target = _column(history, found.added), found.added.site
    if found.added.name in ARRIVING and found.met.constant is not None:
        return reward_stored_at(history, origin(history, found.met.constant))
    if column is None:
        return target
    if (written := behind_all(history.graph, column, FROM_A_BUFFER)) is not None and written.name in WRITTEN:
        return written.site
    if found.whose == "elsewhere":
        return origin(history, column)
    return target if found.several else reward_stored_at(history, target)


def _column(history: History, added: Op) -> Op | None:
    """The summand that no network had a part in; nothing where it is a plain number."""
    summands = (s for s in history.graph.inputs(added) if s.floating)
    return next((s for s in summands if not history.graph.value_params([s.nid])), None)


NEIGHBOURS: tuple[tuple[int, Whose], ...] = ((-1, "before"), (1, "after"))


def known_rows(rows: Sequence[Row], numbers: Sequence[Part]) -> Iterator[tuple[Transition, Part]]:
    for row, number in zip(rows, numbers, strict=True):
        if row is not None and row.end != "reset":
            yield row, number


def neighbour(book: ExperienceBook, row: Transition, by: int) -> Transition | None:
    """The step before or after, in the same episode."""
    other = book.transitions.get((row.stream, row.step + by))
    border = other if by < 0 else row
    return other if border is not None and not border.end else None


def are_of_neighbours(
    book: ExperienceBook, rows: Sequence[Row], rewards: Sequence[float], by: int, fewest: int = FEWEST
) -> bool:
    pairs, both = [], []
    for row, used in known_rows(rows, rewards):
        if (other := neighbour(book, row, by)) is not None and other.end != "reset":
            pairs.append((other.reward, used))
            both.append((other.reward, row.reward))
    return _are_apart(both, fewest) and are_rewards(pairs)


def _are_apart(pairs: Sequence[tuple[float, float]], fewest: int) -> bool:
    """Whether there are enough that tell one step from another."""
    apart = sum(abs(a - b) > 1e-3 * max(abs(a), abs(b)) for a, b in pairs)
    return len(pairs) >= fewest and apart >= FEWEST_APART


def _found_again(book: ExperienceBook, rows: Sequence[Row], given_for: Sequence[Row]) -> Whose:
    """Where each reward is like no other, it says by itself what it was given for."""
    both = [(r, g) for r, g in zip(rows, given_for, strict=False) if r is not None and g is not None]
    apart = [(r, g) for r, g in both if (r.stream, r.step) != (g.stream, g.step)]
    if len(both) < FEWEST or len(set(both)) < FEWEST or 10 * len(apart) < 9 * len(both):
        return ""
    if all(r.step == g.step for r, g in apart):
        side_by_side = all(
            one.autoreset for one in book.environments
        )  # no agents, who may share what they get
        return "of another copy" if side_by_side else ""
    return "elsewhere"


def _whose_windows(history: History, target: Op, rows: Sequence[Row], totals: Sequence[float]) -> Whose:
    """Of sums over several steps: whether their rewards begin a step too early, or too late."""
    if discount_of(windows_behind(history, target, rows), totals):
        return "own"
    for by, whose in NEIGHBOURS:
        if discount_of(windows_behind(history, target, rows, by), totals):
            return whose
    return ""
