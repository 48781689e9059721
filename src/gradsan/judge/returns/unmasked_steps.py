"""Advantages that a loop carries on step by step, `A = r + γ·m·V' - V + γλ·m·A'`, with the flags of the ends in one of
the two places only.

No environment has to be known. The value that is taken is that of the next step in the rollout, which is the first of
another episode where this one has ended: what is to be carried on there, and what is to be taken, end together. A value
of a state that was never in the rollout (the last one of an episode that was cut off) is another."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Literal, NamedTuple

from gradsan.judge.flow import SELECTING, SHAPING, TAKEN_OUT
from gradsan.judge.provenance import Provenance
from gradsan.judge.report.wording import value_at
from gradsan.judge.returns.carried_sums import CarriedStep, Place, carried_sums, place_of
from gradsan.judge.returns.misaligned import Memory, Misaligned
from gradsan.judge.returns.rollout_order import ARITHMETIC, FORM
from gradsan.record.events import Backward, Op, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

FLAG_MAKING = (
    SHAPING | SELECTING | TAKEN_OUT | {"sub", "rsub", "neg", "mul", "float", "stack", "cat", "to", "type"}
)
FIX = "multiply both with the flag: `gamma * (1 - done) * value`, `gamma * lam * (1 - done) * advantage`"
ENOUGH_ENDS = 2  # before the last step, where only the numbers say that they are flags


class UnmaskedStep(NamedTuple):
    """`lacks` the flags that the other has; `site` puts it in."""

    joined: Op
    lacks: Literal["value", "sum"]
    site: Site
    steps: int


class SumsPastEnds:
    """The next value stops at the ends and the sum does not: a judgement of GS806."""

    def __init__(self, history: History, memory: Memory) -> None:
        self._history = history

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        for found in unmasked_steps(self._history, event):
            if found.lacks == "sum":
                what = value_at(self._history, found.joined.site, "the advantage")
                yield Misaligned(
                    found.site,
                    f"{what}, of {found.steps} steps, takes the value of the next step only where an episode goes on, "
                    "and carries the sum on everywhere: after an end that is what another episode brings",
                    [("return", found.site), ("put together", found.joined.site), ("backward", event.site)],
                    fix=FIX,
                )


class _FlaggedWay(NamedTuple):
    """How one value comes into another: the line that scales it last, and the flags that it is multiplied with."""

    site: Site
    flags: frozenset[ValueId]


def unmasked_steps(history: History, event: Backward) -> Iterator[UnmaskedStep]:
    graph = history.graph
    for joined, steps, _ in carried_sums(history, event):
        known = list(_one_sided(graph, steps))
        if len(known) < len(steps):
            continue
        lacks: Literal["value", "sum"]
        for lacks, has, other in (("value", 0, 1), ("sum", 1, 0)):
            flagged, plain = [way[has] for way in known], [way[other] for way in known]
            one_sided = all(way.flags for way in flagged) and not any(way.flags for way in plain)
            if one_sided and _are_flags(graph, flagged):
                yield UnmaskedStep(joined, lacks, plain[0].site, len(steps) + 1)


def _one_sided(graph: Provenance, steps: list[CarriedStep]) -> Iterator[tuple[_FlaggedWay, _FlaggedWay]]:
    """As far as one of the ways has flags, and the other none."""
    for step in steps:
        ways = _ways(graph, step)
        if ways is None or bool(ways[0].flags) == bool(ways[1].flags):
            return
        yield ways


def _ways(graph: Provenance, step: CarriedStep) -> tuple[_FlaggedWay, _FlaggedWay] | None:
    """Of the next advantage, and of the value that the next one is compared with, into this one."""
    values = {
        place for place, op in step.given.items() if place in step.given_after and _is_learned(graph, op)
    }
    carried = _way(graph, step, step.carried.nid)
    ways = [way for place in values if (way := _way(graph, step, place)) is not None]
    return (carried, ways[0]) if carried is not None and len(ways) == 1 else None


def _way(graph: Provenance, step: CarriedStep, wanted: Place) -> _FlaggedWay | None:
    """From a value down to what it is reckoned with, past no other step."""
    now = step.now
    stack, seen = [(now, now.site, frozenset[ValueId]())], {now.nid}
    while stack:
        here, site, flags = stack.pop()
        sides = list(graph.inputs(here))
        for side in sides:
            beside = [s for s in sides if s.nid != side.nid and here.name == "mul"]
            found = flags.union(*(_flags(graph, s) for s in beside))
            where = here.site if here.name in ARITHMETIC else site
            if wanted in (side.nid, place_of(side)):
                return _FlaggedWay(where, found)
            through = side.name in ARITHMETIC | FORM and side.nid != step.carried.nid
            if side.nid not in seen and through:
                seen.add(side.nid)
                stack.append((side, where, found))
    return None


def _flags(graph: Provenance, op: Op) -> set[ValueId]:
    """What is true or false, and nothing else, that a factor was made of; or one less what is zero or one."""
    behind = graph.ancestors([op.nid], lambda user, _: user.name in FLAG_MAKING and user.floating)
    return {nid for nid, source in behind.items() if not source.floating or _is_turned(source)}


def _is_turned(op: Op) -> bool:
    return op.name in ("sub", "rsub") and op.facts.mask is not None


def _are_flags(graph: Provenance, ways: list[_FlaggedWay]) -> bool:
    """Whether their type says so, or episodes have ended before the last step: a rollout of one episode may leave them
    out."""
    flags = [op for way in ways for nid in way.flags if (op := graph.get(nid)) is not None]
    if not all(map(_is_turned, flags)):
        return True
    ended = (prod(op.shape) - op.facts.mask.kept for op in flags if op.facts.mask is not None)
    return sum(ended) >= ENOUGH_ENDS


def _is_learned(graph: Provenance, op: Op) -> bool:
    return op.floating and bool(graph.value_params([op.nid]))
