"""Takes events from the observer to the sinks; counts iterations, and those that only repeat.

What counts as an iteration, `iterations` says. Its *signature* is what
happened in it, without the numbers that differ every time. Once an iteration with the same signature
(and the same one before it) has been judged often enough, further ones are counted, not stored. Events
are held back only while they follow a known course; the first one that does not releases them all.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Iterable
from typing import Any

from gradsan.record.events import (
    DIRECT,
    NO_FACTS,
    PLAIN,
    Backward,
    ChainSeen,
    ChartPoint,
    Clip,
    Consumed,
    Event,
    IterationEnd,
    Op,
    OpFacts,
    Ops,
    OptimizerSeen,
    ParamFlag,
    ParamId,
    ParamReborn,
    ParamSeen,
    RankStep,
    Repeated,
    Resumed,
    Sample,
    Scaling,
    SiteSeen,
    Step,
    StepDone,
    Turn,
    ZeroGrad,
)
from gradsan.record.iterations import Iterations
from gradsan.record.sinks import Sink, Sinks

JUDGED_OFTEN_ENOUGH = 5
FLUSH_SECONDS = 2.0
MEMORY = 50_000  # courses of events that are remembered


class Recorder:
    def __init__(self, sinks: Iterable[Sink]) -> None:
        self.sinks = Sinks(sinks)
        self._iterations = Iterations()
        self._course = 0  # what happened in this iteration so far
        self._previous = 0  # what happened in the one before
        self._outline = 0  # what happened in this one, operations left out
        self._previous_outline = 0
        self._outlines: set[int] = set()
        self.news = True  # whether the last iteration had an outline never seen before
        self._seen: list[tuple[int, int]] = []
        self._seen_lightly: list[tuple[int, int]] = []  # the same, had no operations been traced
        self._known: set[tuple[int, int]] = set()  # every beginning of an iteration judged often enough
        self._judged: dict[tuple[int, int], int] = {}
        self._held: list[Event] = []
        self._counted: list[Ops] = []  # operations of the last iteration that was only counted
        self._sources: dict[int, Op] = {}  # by parameter, the latest of those operations that read it first
        self._released = False
        self.familiar = False  # whether the last iteration was one of those that are only counted
        self._repeats = 0
        self._flushed = time.monotonic()
        self._finished = False
        self._passing: set[ParamId] = (
            set()
        )  # leaves that no optimizer owns: many a script makes new ones all the time

    def emit(self, event: Event) -> None:
        kind = type(event)
        if kind is Sample or kind is RankStep:  # a remark on the side: it does not make an iteration special
            self._flush_repeats()
            self.sinks.feed(event)
            return
        if kind in _BESIDE or (kind in _OF_LEAVES and self._is_in_passing(event)):
            self.sinks.feed(event)
            return
        if kind not in _KEYED:
            self._release()
            self.sinks.feed(event)
            return
        key = _key(event, self._passing)
        self._course = hash((self._course, key))
        if kind is not Ops:
            if isinstance(event, Backward) and event.facts is not NO_FACTS:
                key = _key(_lightly(event), self._passing)
            self._outline = hash((self._outline, key))
            self._seen_lightly.append((self._previous_outline, self._outline))
        here = (self._previous, self._course)
        self._seen.append(here)
        if not self._released and here in self._known:
            self._held.append(event)
        else:
            self._release()
            self.sinks.feed(event)
        if isinstance(event, StepDone) and self._iterations.step(event.oid):
            self._end_iteration()
        elif kind is Turn:
            self._iterations.turn()
            self._end_iteration()

    def _is_in_passing(self, event: Event) -> bool:
        """Whether it is about a leaf that is made for the moment, such as an input that is to require grad: another one
        every time does not make an iteration special."""
        if isinstance(event, ParamSeen) and event.kind == "leaf":
            self._passing.add(event.pid)
        elif isinstance(event, OptimizerSeen):
            self._passing.difference_update(event.params)
        return isinstance(event, ParamSeen | ParamReborn | ParamFlag) and event.pid in self._passing

    @property
    def iteration(self) -> int:
        return self._iterations.count

    def skip(self, iterations: int) -> None:
        """Iterations went by like known ones, without being looked at."""
        self._iterations.skip(iterations)
        self._repeats += iterations
        self._flush_repeats()
        self.sinks.feed(Resumed())

    def _end_iteration(self) -> None:
        if self._held:
            self._repeats += 1
            self._counted = [event for event in self._held if isinstance(event, Ops)]
            for event in self._counted:
                self._sources.update((op.facts.pid, op) for op in event.ops if op.kind == "parameter")
            self._held.clear()
            self.familiar = True
        else:
            self.familiar = False
            self.sinks.feed(IterationEnd())
            # Whoever looks less closely at the same sees nothing that has not been judged.
            lightly = (self._previous_outline, self._outline)
            for course, seen in {
                lightly: self._seen_lightly,
                (self._previous, self._course): self._seen,
            }.items():
                times = self._judged[course] = self._judged.get(course, 0) + 1
                if times >= JUDGED_OFTEN_ENOUGH:
                    self._known.update(seen)
        self._forget_some()
        self.news = self._outline not in self._outlines
        self._outlines.add(self._outline)
        self._previous, self._previous_outline = self._course, self._outline
        self._course, self._outline, self._released = 0, 0, False
        self._seen.clear()
        self._seen_lightly.clear()
        if self._repeats and time.monotonic() - self._flushed > FLUSH_SECONDS:
            self._flush_repeats()

    def _forget_some(self) -> None:
        """A script of which no two iterations are alike has nothing to be recognised by."""
        for memory in (self._judged, self._known, self._outlines):
            if len(memory) > MEMORY:
                memory.clear()

    def _release(self) -> None:
        """This iteration takes a course of its own: judge what was held back of it, too."""
        self._released = True
        self._flush_repeats()
        self._recall()
        for event in self._held:
            self.sinks.feed(event)
        self._held.clear()

    def _recall(self) -> None:
        """What comes now may be made of values that were only counted: a weight is read for the first time once
        and is the same until it is written, and a rollout is learned from one iteration later."""
        if self._sources:
            self.sinks.feed(Ops(tuple(self._sources.values())))
        for event in self._counted:
            self.sinks.feed(event)
        self._sources.clear()
        self._counted.clear()

    def catch_up(self) -> None:
        """Pass on what is held back, though it may turn out to be a repetition."""
        self._release()

    def _flush_repeats(self) -> None:
        self._flushed = time.monotonic()
        if self._repeats:
            times, self._repeats = self._repeats, 0
            self.sinks.feed(Repeated(times))

    def finish(self) -> None:
        if self._finished:
            return
        self._finished = True
        try:
            self._release()
        finally:
            self.sinks.finish()


_BESIDE = {
    SiteSeen,
    ChainSeen,
    ChartPoint,
    Consumed,
}  # a line counts where it is referred to, the others nowhere
_OF_LEAVES = {ParamSeen, ParamReborn, ParamFlag, OptimizerSeen}
_KEYED = {ParamReborn, Backward, Step, StepDone, Turn, ZeroGrad, Clip, Scaling, Ops}


def _key(event: Event, passing: set[ParamId]) -> Any:
    """What must be the same for two events to count as the same; not which leaves were made in passing."""
    if isinstance(event, Ops):
        return frozenset(
            [(_outside(op), len(op.shape), None if op.facts is PLAIN else _kept(op)) for op in event.ops]
        )
    if isinstance(event, Backward):
        facts = event.facts._replace(
            norms=(), zeroed_by=(), functions=(), flat=(), faded=(), probes=(), probe_pairs=(), growth=None
        )
        reached, fed = event.reached, event.fed
        if not passing.isdisjoint(reached):
            reached, fed = (tuple(pid for pid in pids if pid not in passing) for pids in (reached, fed))
        return (event.site, event.call, reached, fed, len(event.reached), event.retain, event.create_graph,
                event.error, tuple(map(bool, facts)))  # fmt: skip
    if isinstance(event, Step):
        return (event.oid, event.site, event.held, event.by_hand, event.replaced)
    if isinstance(event, ZeroGrad):  # whoever calls the same line
        event = event._replace(chain=DIRECT)
    if isinstance(event, Scaling):  # the scale grows and shrinks all the time
        event = event._replace(scale=0.0)
    return (type(event).__name__, *event)  # one step that is done is not one leaf that is reborn


def _lightly(event: Backward) -> Backward:
    """Without what only a traced graph shows, and not even that every time."""
    return event._replace(facts=event.facts._replace(junctions=(), overlaps=()))


# Values have other numbers every time.
_outside = operator.itemgetter(
    *(Op._fields.index(name) for name in ("kind", "name", "site", "live", "floating", "tags"))
)


def _kept(op: Op) -> Any:
    return _same_every_time(op.facts), op.facts.settings if op.live else 0


# Numbers differ every time; a replay writes to another row every time.
_NUMBERS = {
    "scalars", "alpha", "saturated", "settings", "made_by", "apart", "operand", "valid", "mask", "cut_off",
    "numbers",
}  # fmt: skip
_same_every_time = operator.itemgetter(*(i for i, name in enumerate(OpFacts._fields) if name not in _NUMBERS))
