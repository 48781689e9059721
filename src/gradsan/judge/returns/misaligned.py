"""What the judgements of GS806 have in common: what they find, and what they remember of each line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from gradsan.judge.history import History
from gradsan.judge.lines.kept_sums import summed_by_class
from gradsan.judge.objective.weighed import Met, origin
from gradsan.judge.report.wording import line, value_at
from gradsan.judge.returns.numpy_targets import arrival
from gradsan.record.events import NOWHERE, Backward, Site, ValueId

ENOUGH_BORDERS = 3  # ends of episodes that a return ran across
ENOUGH_UPDATES = 2  # in which the order was wrong


class Misaligned(NamedTuple):
    culprit: Site
    message: str
    sites: list[tuple[str, Site]]
    fix: str = ""


class Judgement(Protocol):
    """One way in which a return goes wrong."""

    def __init__(self, history: History, memory: Memory) -> None: ...

    def found_in(self, event: Backward) -> Iterator[Misaligned]: ...


@dataclass(slots=True)
class Tally:
    """What was found on one line so far."""

    crossed: int = 0
    stopped: int = 0
    valued: int = 0
    not_valued: int = 0
    terminal: int = 0
    not_terminal: int = 0
    looks_back: int = 0
    only_discounted: int = 0
    beside: int = 0
    values_alone: int = 0
    from_itself: int = 0
    last_from_itself: int = 0
    last_from_next: int = 0
    disordered: int = 0
    own_actions: int = 0
    other_actions: int = 0
    misplaced: int = 0
    in_place: int = 0
    same_successor: int = 0
    drawn_apart: int = 0
    twice: int = 0
    permuted: int = 0
    in_some_order: int = 0  # updates in which that was looked for
    right: int = 0


@dataclass(slots=True)
class Memory:
    tallies: dict[tuple[Site, bool], Tally] = field(default_factory=lambda: defaultdict(Tally))
    read: set[ValueId] = field(default_factory=set)  # rollouts
    alone: dict[Site, int] = field(default_factory=dict)  # sums of predictions and zeros
    late: bool = False  # the observations of this loss are those after their actions

    def at(self, culprit: Site, met: Met) -> Tally:
        """Weights and targets apart."""
        return self.tallies[culprit, met.op.name == "mul"]

    def is_enough(self, value: ValueId, site: Site) -> bool:
        """Whether this has been seen on the line in enough updates; each value counts once."""
        if value in self.read:
            return False
        self.read.add(value)
        self.alone[site] = self.alone.get(site, 0) + 1
        return self.alone[site] >= ENOUGH_UPDATES


def return_that(
    history: History, event: Backward, met: Met, made: Site, text: str, culprit: Site = NOWHERE, fix: str = ""
) -> Misaligned:
    """`text`: what is wrong with it, as the end of a sentence."""
    what = value_at(history, made, "the return")
    used = "weighs a log-probability" if met.op.name == "mul" else "is what the value learns"
    return Misaligned(
        culprit or made or met.op.site,
        f"{what} {used} on {line(history, met.op.site)} and {text}",
        [("return", made), ("loss", met.op.site), ("backward", event.site)],
        fix,
    )


def summed_at(history: History, met: Met) -> Site:
    """Where a series was made."""
    if met.constant is None:
        return met.op.site
    made, arrived = origin(history, met.constant), arrival(history, met.constant)
    of_class = summed_by_class(history, arrived) if arrived is not None else NOWHERE
    return of_class if of_class and arrived is not None and made == arrived.site else made
