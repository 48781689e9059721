"""Ends of other steps: a target that takes no next value beside the ends of episodes, instead of at them."""

from __future__ import annotations

from dataclasses import dataclass

from gradsan.judge.experience import ExperienceBook
from gradsan.judge.returns.bootstraps import Rest

ENOUGH = 3  # rows
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
