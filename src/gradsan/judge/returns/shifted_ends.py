"""Ends of other steps: a target that takes no next value beside the ends of episodes, instead of at them; and the flag
of another step than the last, where a row spans several."""

from __future__ import annotations

from dataclasses import dataclass

from gradsan.judge.experience import ExperienceBook
from gradsan.judge.returns.bootstraps import Rest
from gradsan.record.events import Transition

ENOUGH = 3  # rows
MOST_COPIES = 64  # of one environment that are followed
UNCLEAR = ("reset", "truncated", "ended")  # a flag may say so, or not


@dataclass(slots=True)
class ShiftedEnds:
    """Of one target, the rows that lie right before or after an end: at how many it takes no next value; and where else
    that happened, or did not."""

    word: str
    by: int  # where the flag is that is wanted, from the row on
    masked: int = 0
    others: int = 0

    def add(self, book: ExperienceBook, rest: list[Rest]) -> None:
        for transition, number, *_ in rest:
            beside = book.transitions.get((transition.stream, transition.step + self.by))
            if beside is None or beside.end in UNCLEAR or transition.end == "reset":
                continue
            # A row that is itself an end must take a value: only so the flags are all one step off.
            wanted = beside.end != ""
            self.masked += wanted and number == 0.0
            self.others += wanted != (number == 0.0)

    @property
    def is_so(self) -> bool:
        return self.masked >= ENOUGH and not self.others

    @property
    def text(self) -> str:
        return (
            f"takes no next value at all {self.masked} rows that {self.word}, and one at the ends themselves: the "
            "flags are those of other rows"
        )

    @property
    def put_away(self) -> bool:
        """Whether the flags came beside other rows where transitions are kept."""
        return True


@dataclass(slots=True)
class EndsOfOthers(ShiftedEnds):
    """The same of what another agent, or another copy, said at the same step: `by` places further among those that
    are stepped together. Only where one of the two has ended alone it tells."""

    taken: int = 0

    def add(self, book: ExperienceBook, rest: list[Rest]) -> None:
        for transition, number, *_ in rest:
            beside = self._other(book, transition)
            if beside is None or {beside.end, transition.end} & {"reset", "truncated"}:
                continue
            mine, theirs = transition.end == "terminated", beside.end == "terminated"
            if mine != theirs:
                self.masked += theirs and number == 0.0
                self.taken += mine and number != 0.0
                self.others += mine == (number == 0.0)

    def _other(self, book: ExperienceBook, row: Transition) -> Transition | None:
        first = 1  # streams are counted as environments are met
        for environment in book.environments:
            copies = min(environment.copies, MOST_COPIES)
            if first <= row.stream < first + copies:
                other = first + (row.stream - first + self.by) % copies
                return book.transitions.get((other, row.step)) if other != row.stream else None
            first += copies
        return None

    @property
    def is_so(self) -> bool:
        return min(self.masked, self.taken) >= ENOUGH and not self.others


@dataclass(slots=True)
class EndsOfFirstSteps(ShiftedEnds):
    """Of returns over several steps, those whose last step ended the episode: where the first one is asked, only
    those that it ended itself, because they span nothing more, take no next value."""

    taken: int = 0

    def add(self, book: ExperienceBook, rest: list[Rest]) -> None:
        for row in rest:
            if row.transition.end in UNCLEAR:
                continue
            wanted = row.transition.end == "terminated" and row.steps == 1
            self.masked += wanted and row.number == 0.0
            self.taken += row.transition.end == "terminated" and row.steps > 1 and row.number != 0.0
            self.others += wanted != (row.number == 0.0)

    @property
    def is_so(self) -> bool:
        return min(self.masked, self.taken) >= ENOUGH and not self.others

    @property
    def text(self) -> str:
        return (
            f"takes no next value at the {self.masked} rows that {self.word}, and one at all {self.taken} that end "
            "with a later one: the flag is that of the first step, not of the last"
        )

    @property
    def put_away(self) -> bool:
        return False
