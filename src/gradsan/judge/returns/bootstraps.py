"""One-step targets, `reward + discount * next value`, next to the transitions that their rows are about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from gradsan.judge.experience import Row
from gradsan.judge.flow import SHAPING, TAKEN_OUT
from gradsan.judge.history import History
from gradsan.judge.objective.weighed import DIFFERENCES, WRITTEN, Met, met_in, origin
from gradsan.judge.returns.numpy_targets import (
    Outside,
    beside_rewards,
    next_starts,
    successors,
    takes_next_values,
)
from gradsan.judge.returns.one_by_one import summed_at
from gradsan.judge.returns.one_column import one_column
from gradsan.judge.returns.shaped_rewards import are_shaped
from gradsan.judge.returns.windows import Window, discount_of, windows_behind
from gradsan.record.events import Backward, Op, Site, Transition, ValueId

SAME_ROWS = SHAPING | TAKEN_OUT | {"alias", "where", "neg"}
PRECISION = 1e-5


class Rest(NamedTuple):
    transition: Transition
    number: float
    follows: bool
    starts: bool = False
    steps: int = 1  # that its reward was summed over


@dataclass(slots=True)
class Bootstrap:
    """`met` compares a prediction with a target that is made at `site`. `rest`: what the target holds beside its
    reward, for every row that is about a known transition. `follows`: whether what the next value was computed
    from is where this very transition has led. An ended episode may go on elsewhere: in the next start (`starts`), or
    in an absorbing state."""

    met: Met
    site: Site
    rest: list[Rest]
    alike: bool = False  # of places that recur: a row's step is one of several that led there
    shaped: bool = False  # its rewards are made by the script: a bonus of its own may be among them


def bootstraps_in(history: History, event: Backward) -> Iterator[Bootstrap]:
    book = history.experience
    if not book.successors:
        return
    for met in met_in(history, event):
        if met.op.name not in DIFFERENCES or met.constant is None or adds_other_values(history, met.constant):
            continue
        learned = one_column(history, met)
        for rows in book.readings_behind(met.live, len(learned.numbers)):
            if (found := _bootstrap(history, learned, met.constant, rows)) is not None:
                yield found
                break


def bootstraps_of_recurring_places(history: History, event: Backward) -> Iterator[Bootstrap]:
    """Where observations recur, and every step that led to one of them says the same."""
    alike, known_otherwise = history.experience.alike, history.experience.successors
    if not alike:
        return
    for met in met_in(history, event):
        if met.op.name not in DIFFERENCES or met.constant is None or adds_other_values(history, met.constant):
            continue
        learned, behind = one_column(history, met), history.graph.ancestors([met.constant.nid])
        if not known_otherwise.keys().isdisjoint(behind):
            continue
        places = {alike[nid] for nid in behind if nid in alike and len(alike[nid]) == len(learned.numbers)}
        summed = summed_rewards(history, learned)
        if len(places) != 1 or summed is None:
            continue
        rows = zip(places.pop(), summed[1], learned.numbers, strict=True)
        known = [(row, reward, number) for row, reward, number in rows if row is not None]
        if are_rewards([(row.reward, reward) for row, reward, _ in known if not row.end]):
            rest = [Rest(row, difference(number, reward), True) for row, reward, number in known]
            yield Bootstrap(learned, summed[0].site, rest, alike=True)


def _bootstrap(history: History, met: Met, target: Op, rows: list[Row]) -> Bootstrap | None:
    if (found := summed_rewards(history, met)) is None:
        if (summands := _summed_data(history, met)) is not None:
            return _beside_other_data(history, met, rows, summands)
        if (outside := takes_next_values(history, met, rows)) is not None:
            site = summed_at(history, rows, beside_rewards(met, rows, rows), outside.discount)
            return Bootstrap(met, site or origin(history, target), _rest_outside(met, rows, outside))
        return None
    op, rewards = found
    if windows := windows_behind(history, target, rows):
        return _over_several_steps(met, op, windows, rewards)
    after, starts = successors(history, target, rows), next_starts(history, target, rows)
    rest, pairs = [], []
    for i, (row, reward, number, next_row) in enumerate(zip(rows, rewards, met.numbers, after, strict=False)):
        if row is not None and row.end != "reset":
            rest.append(Rest(row, difference(number, reward), next_row == row, i in starts))
            pairs += [] if row.end else [(row.reward, reward)]
    if are_rewards(pairs):
        return Bootstrap(met, op.site, rest)
    if (summands := _added_before(history, met)) is not None:
        return _beside_other_data(history, met, rows, summands)
    return Bootstrap(met, op.site, rest, shaped=True) if are_shaped(history, pairs) else None


def _beside_other_data(
    history: History, met: Met, rows: list[Row], columns: list[tuple[Op, tuple[float, ...]]]
) -> Bootstrap | None:
    """`reward + (discount * mask + next value)`: beside all data, a bonus as well as the reward, what is left is the
    next value."""
    assert met.constant is not None
    going_on = [i for i, row in enumerate(rows) if row is not None and not row.end]
    rewards = [
        c for c in columns if are_rewards([(row.reward, c[1][i]) for i in going_on if (row := rows[i])])
    ]
    if len(rewards) != 1:
        return None
    known_ends = _ends_by_a_mask(rows, [numbers for op, numbers in columns if (op, numbers) != rewards[0]])
    after, rest = successors(history, met.constant, rows), list[Rest]()
    for i, (row, next_row) in enumerate(zip(rows, after, strict=False)):
        if row is not None and row.end != "reset":
            own = row._replace(end="terminated") if i in known_ends else row
            left = _remainder(met.numbers[i], [numbers[i] for _, numbers in columns])
            rest.append(Rest(own, left, next_row == row))
    return Bootstrap(met, rewards[0][0].site, rest)


def _ends_by_a_mask(rows: list[Row], columns: list[tuple[float, ...]]) -> set[int]:
    """The rows of ended episodes that a summand knows: it is zero there and one number at all that go on. Of an
    environment that says only `done`, this tells an end from running out of time."""
    for numbers in columns:
        going_on = {n for row, n in zip(rows, numbers, strict=False) if row is not None and not row.end}
        if len(going_on) == 1 and 0.0 not in going_on:
            ended = [i for i, row in enumerate(rows) if row is not None and row.end in ("ended", "done")]
            return {i for i in ended if numbers[i] == 0.0}
    return set()


def _over_several_steps(
    met: Met, op: Op, windows: list[Window | None], rewards: tuple[float, ...]
) -> Bootstrap | None:
    """Of windows within one episode, the last step tells whether anything follows."""
    if not discount_of(windows, rewards):
        return None
    rows = zip(windows, met.numbers, rewards, strict=True)
    whole = [(w, number, reward) for w, number, reward in rows if w is not None and w.is_whole]
    return Bootstrap(
        met, op.site, [Rest(w.last, difference(n, r), True, steps=w.inside) for w, n, r in whole]
    )


def _rest_outside(met: Met, rows: list[Row], outside: Outside) -> list[Rest]:
    """At an end the script may give a reward of its own: what is neither that of the environment nor a next value is
    left alone."""
    found = list[Rest]()
    for at, (row, number) in enumerate(zip(rows, met.numbers, strict=True)):
        if row is None or row.end == "reset":
            continue
        rest = difference(number, row.reward)
        if not row.end or rest == 0.0 or outside.holds(at, rest):
            found.append(Rest(row, rest, True))
    return found


def has_learned_target(history: History, event: Backward) -> bool:
    """Whether the loss compares a prediction with a constant that a network had a part in."""
    return bool(learned_targets(history, event))


def learned_targets(history: History, event: Backward) -> set[Site]:
    """Where such constants were made."""
    compared = (met.constant for met in met_in(history, event) if met.op.name in DIFFERENCES)
    made = [target for target in compared if target is not None]
    return {origin(history, target) for target in made if history.graph.value_params([target.nid])}


def _sums_in(history: History, target: Op) -> Iterator[tuple[Op, list[Op], list[bool]]]:
    """The sums of two that a target is made by, with what they add, and whether that is learned."""
    graph, stack, seen = history.graph, [target], set[ValueId]()
    while stack:
        op = stack.pop()
        if op.nid in seen:
            continue
        seen.add(op.nid)
        inputs = [source for source in graph.inputs(op) if source.floating]
        if op.name in ("add", "sub") and len(inputs) == 2:
            learned = [bool(graph.value_params([source.nid])) for source in inputs]
            yield op, inputs, learned
            stack += [source for source, is_learned in zip(inputs, learned, strict=True) if is_learned]
        elif op.name in SAME_ROWS:
            stack += inputs
        elif op.name in WRITTEN:
            stack += inputs[1:2]  # what was written into it, one number for each row


def adds_other_values(history: History, target: Op) -> bool:
    """Whether more than one summand is learned: a gap between actions, the log-probability of the one taken, a bonus
    for the unknown. Then the target is more than the reward at an end, too."""
    return any(all(learned) for _, _, learned in _sums_in(history, target))


def summed_rewards(history: History, met: Met) -> tuple[Op, tuple[float, ...]] | None:
    """The summand of a target that no network had a part in, and where it was added."""
    found = _data_in(history, met)
    fitting = [(op, values) for op, values in found if len(values) == len(met.numbers)]
    return fitting[0] if len(found) == len(fitting) == 1 else None


def _summed_data(history: History, met: Met) -> list[tuple[Op, tuple[float, ...]]] | None:
    """As `summed_rewards`, of a target that adds several."""
    found, rows = _data_in(history, met), len(met.numbers)
    whole = len(found) > 1 and all(op.name == "add" and len(values) == rows for op, values in found)
    return found if whole else None


def _added_before(history: History, met: Met) -> list[tuple[Op, tuple[float, ...]]] | None:
    """The parts of the one summand that no network had a part in, where data was added to data: `reward + discount *
    mask`, and then the next value. What is the same at all rows may be the average reward."""
    book, graph, rows = history.experience, history.graph, len(met.numbers)
    found = [side for _, side in _data_sides(history, met)]
    sides = list(graph.inputs(found[0])) if len(found) == 1 and found[0].name == "add" else []
    columns = [(found[0], book.numbers.get(side.nid, ())) for side in sides]
    whole = len(columns) == 2 and all(
        len(numbers) == rows and len(set(numbers)) > 1 for _, numbers in columns
    )
    return columns if whole else None


def _data_in(history: History, met: Met) -> list[tuple[Op, tuple[float, ...]]]:
    numbers = history.experience.numbers
    return [(op, numbers.get(data.nid, ())) for op, data in _data_sides(history, met)]


def _data_sides(history: History, met: Met) -> list[tuple[Op, Op]]:
    """Sums, and what they add that no network had a part in."""
    found = dict[ValueId, tuple[Op, Op]]()
    assert met.constant is not None
    for op, inputs, learned in _sums_in(history, met.constant):
        if sum(learned) == 1:
            data = inputs[learned.index(False)]
            if op.name == "add" or data is inputs[0]:
                found[data.nid] = op, data
    return list(found.values())


def are_rewards(pairs: list[tuple[float, float]]) -> bool:
    """Whether these are the rewards that the environment gave, perhaps scaled; a constant that is added to them (the
    average reward) cannot be told from a scale where they are all equal."""
    if len(pairs) < 4:
        return False
    if all(_is_near(given, used) for given, used in pairs):
        return True
    scales = [used / given for given, used in pairs if abs(given) > 1e-6]
    varied = max(given for given, _ in pairs) - min(given for given, _ in pairs) > 1e-3
    scale = scales[0] if scales else 0.0
    return varied and scale > 0.0 and all(_is_near(scale * given, used) for given, used in pairs)


def difference(number: float, reward: float) -> float:
    return 0.0 if _is_near(number, reward) else number - reward


def _remainder(number: float, parts: list[float]) -> float:
    """What is left of a sum beyond the rounding of its largest part."""
    left = number - sum(parts)
    return 0.0 if abs(left) <= PRECISION * max(1e-3, abs(number), *map(abs, parts)) else left


def _is_near(a: float, b: float) -> bool:
    return abs(a - b) <= PRECISION * max(1e-3, abs(a), abs(b))
