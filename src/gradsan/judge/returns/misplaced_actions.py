"""Actions of other steps: what a batch scores at an observation is not what `step` was given there.

An action is known by its numbers, as the environment was given them. Where a script gives it others than it keeps
(rescaled, clipped, one of a list), they fit nowhere, and nothing is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from gradsan.judge.experience import ExperienceBook, Row
from gradsan.judge.history import History
from gradsan.judge.lines.stored_rows import observation_stored_at, stored_at
from gradsan.judge.objective.weighed import DIFFERENCES, Met, is_score, met_in
from gradsan.judge.report.wording import value_at
from gradsan.judge.returns.bootstraps import summed_rewards
from gradsan.judge.returns.misaligned import ENOUGH_UPDATES, Memory, Misaligned
from gradsan.judge.returns.misplaced_rewards import FEWEST, FEWEST_APART, known_rows, neighbour
from gradsan.record.events import Backward, Op, Site, Transition, ValueId

PICKING = ("gather", "take_along_dim", "getitem", "sub", "rsub")
NEAR = 1e-5
Whose = Literal["", "own", "before", "after", "elsewhere"]
Action = tuple[float, ...]
TEXTS = {
    "before": "the action that `step` was given one step before the one that its observation is about",
    "after": "the action that `step` was given one step after the one that its observation is about",
    "elsewhere": "an action that `step` was given for another of its observations: they are in another order",
}


class ActionsOfOthers:
    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        self._memory.late = False
        for found in actions_in(self._history, event):
            self._memory.late = self._memory.late or found.whose == "before"
            seen = self._memory.at(found.scored.site, found.met)
            seen.own_actions += found.whose == "own"
            seen.other_actions += found.whose != "own"
            if found.whose != "own" and seen.other_actions >= ENOUGH_UPDATES and not seen.own_actions:
                yield self._misaligned(event, found)

    def _misaligned(self, event: Backward, found: MisplacedActions) -> Misaligned:
        site = found.scored.site
        what = value_at(self._history, site, "the score")
        return Misaligned(
            self._line_of(found),
            f"{what} asks, at each of {found.rows} rows, about {TEXTS[found.whose]}",
            [("scored", site), ("loss", found.met.op.site), ("backward", event.site)],
            fix="keep an observation and the action that was chosen for it in one row",
        )

    def _line_of(self, found: MisplacedActions) -> Site:
        """An action of the step before means that its observation was kept too late."""
        if found.whose == "elsewhere":
            return found.scored.site
        line_of = observation_stored_at if found.whose == "before" else stored_at
        return line_of(self._history, found.scored.site)


class MisplacedActions(NamedTuple):
    """`scored` asks about the actions of the steps `whose`, at so many `rows`."""

    met: Met
    scored: Op
    whose: Whose
    rows: int


def actions_in(history: History, event: Backward) -> Iterator[MisplacedActions]:
    """Of what a policy is praised for, and of what a value is learned for."""
    seen = set[ValueId]()
    for met in met_in(history, event):
        if met.op.name == "mul":
            wanted = is_score(history, met.live) and len(set(met.numbers)) > 1
        else:
            wanted = met.op.name in DIFFERENCES and summed_rewards(history, met) is not None
        if not wanted or len(met.numbers) < FEWEST:
            continue
        for scored in history.graph.named(history.graph.live_ancestors([met.live.nid]), PICKING):
            if scored.nid not in seen and (whose := _whose(history, scored, len(met.numbers))):
                yield MisplacedActions(met, scored, whose, len(met.numbers))
            seen.add(scored.nid)


def _whose(history: History, scored: Op, count: int) -> Whose:
    book, graph = history.experience, history.graph
    live = [source for source in graph.inputs(scored) if source.live]
    readings = [
        rows
        for nid in (graph.ancestors([live[0].nid]) if len(live) == 1 else ())
        if len(rows := book.observations.get(nid, ())) == count
    ]
    for given in graph.inputs(scored):
        numbers = book.numbers.get(given.nid, ()) if not given.live else ()
        width = len(numbers) // count
        if not readings or not width or len(numbers) != width * count:
            continue
        actions = [tuple(numbers[at : at + width]) for at in range(0, len(numbers), width)]
        kinds = [_compared(book, rows, actions) for rows in readings]
        if whose := ("own" if "own" in kinds else kinds[0] if len(set(kinds)) == 1 else ""):
            return whose
    return ""


def _compared(book: ExperienceBook, rows: Sequence[Row], actions: Sequence[Action]) -> Whose:
    known = [(row, action) for row, action in known_rows(rows, actions) if len(row.action) == len(action)]
    if len(known) < FEWEST:
        return ""
    if all(_are_same(row.action, action) for row, action in known):
        return "own"
    if _are_of_neighbours(book, known, -1):
        return "before"
    if _are_of_neighbours(book, known, 1):
        return "after"
    return _found_again(known)


def _are_of_neighbours(book: ExperienceBook, known: list[tuple[Transition, Action]], by: int) -> bool:
    pairs = [(row, other, action) for row, action in known if (other := neighbour(book, row, by)) is not None]
    apart = sum(not _are_same(row.action, other.action) for row, other, _ in pairs)
    fits = all(_are_same(other.action, action) for _, other, action in pairs)
    return fits and len(pairs) >= FEWEST and apart >= FEWEST_APART


def _found_again(known: list[tuple[Transition, Action]]) -> Whose:
    """The actions of the very same steps, in another order: where each is like no other."""
    own = {row.action for row, _ in known}
    if len(own) < len({(row.stream, row.step) for row, _ in known}) or len(own) < FEWEST:
        return ""
    again = sum(action in own for _, action in known)
    apart = sum(row.action != action for row, action in known)
    return "elsewhere" if 10 * min(again, apart) >= 9 * len(known) else ""


def _are_same(a: Action, b: Action) -> bool:
    return all(abs(x - y) <= NEAR * max(1e-2, abs(x)) for x, y in zip(a, b, strict=True))
