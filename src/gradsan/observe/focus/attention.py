"""How closely to look: deep (every operation), full (every boundary), or cruising (see `fast_path`)."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable

import torch

from gradsan.observe.containment import Containment
from gradsan.observe.focus.fast_path import FULL_LENGTH, FastPath
from gradsan.observe.focus.late_ends import LateEnds
from gradsan.observe.focus.late_starters import LateStarters
from gradsan.observe.focus.returning import Returning
from gradsan.observe.focus.tracing import Tracing
from gradsan.observe.graphs.gradient_sketch import GradientSketch
from gradsan.observe.graphs.held_graphs import HeldGraphsWatch
from gradsan.observe.ops.operations import OperationTap
from gradsan.observe.ops.values import Values
from gradsan.observe.outlet import Outlet, Recording
from gradsan.observe.patches import Patches
from gradsan.observe.registry import Known
from gradsan.observe.training.standing_weights import StandingWeights
from gradsan.record import events

FIRST_ITERATIONS = 12
# Of iterations that hold so many values each, fewer say as much; five are judged before one is only counted.
MANY_VALUES, FEWER_ITERATIONS = 250, 5
# A graph that has been carried on for so many iterations when the first look ends may be about to grow; how many tell.
CARRIED, FOR_CERTAIN, ITERATIONS_MORE = 2, 4, 12
FOR_NEWS = 4  # deep iterations when something new happens
FOR_ENDS = 8  # …when ends of episodes have come late: not every batch holds one
FAMILIAR_IN_A_ROW = 2
BUDGET = 0.02  # share of iterations that news may make deep, beyond the first ones
AT_RANDOM = 2_000  # one iteration in so many is deep for no reason at all
Find = Callable[[Values, int], events.HeldGraphs | None]


class AttentionPolicy:
    def __init__(
        self, mode: str, sink: Recording, containment: Containment, outlet: Outlet, known: Known,
        tracing: Tracing, sketch: GradientSketch, patches: Patches, ends: Callable[[], int],
    ) -> None:  # fmt: skip
        self.mode = mode
        self._sink = sink
        self._contain, self._emit = containment.contain, outlet.emit
        self._known = known
        self._tracing = tracing
        self._sketch = sketch
        self._patches = patches
        self.fast_path = FastPath(lambda: containment.contain("fast path", self._look_again))
        self._deep_left = 0
        self._looked = 0  # iterations that were looked at closely
        self._newest = 0  # value, when the last of them ended
        self._smallest = sys.maxsize  # of them, in values
        self._in_vain = False  # a gradient that was written in this iteration is zero
        self._familiar = 0
        self._full_left = 0
        self._full_due = 0  # so many iterations in passing, until the next full look
        self._held_due = 0  # and until a look at what is held only
        self._dice = random.Random(0)  # our own: the script's random state is none of our business
        self.late = LateStarters(lambda: containment.contain("late", self._has_come))
        self._returning = Returning(FOR_NEWS)
        self._late_ends = LateEnds(ends)
        self._standing = StandingWeights(known)
        self._held = HeldGraphsWatch()

    def start(self, tap: OperationTap) -> None:
        self._tap = tap
        if self.mode != "light":
            self.go_deep("first" if self.mode == "adaptive" else "asked", FIRST_ITERATIONS)

    def stop(self) -> None:
        self.late.stop_waiting()
        self._leave_fast_path()
        self.go_light()
        self._contain("what stays", lambda: self._look_at_what_stays(self._held.find_at_end))
        self._tap.leave_for_good()  # another thread may have made the run light; the stack is this one's

    # -- deep and light -------------------------------------------------------------------------------

    def go_deep(self, reason: events.Reason, iterations: int) -> None:
        self._deep_left = max(self._deep_left, iterations)
        if self._tracing.tap is None and self._contain("operations", self._enter):
            self._held.look_begins(self._tap.values.traced, self._sink.iteration)
            self._emit(events.Attention(True, reason))
            self._tracing.begin(self._tap)

    def _enter(self) -> bool:
        self._patches.wake()
        self._tap.enter()
        return True

    def go_light(self) -> None:
        if self._tracing.tap is not None:
            self._tap.flush()
            self._tap.leave()
            self._tracing.end()
            self._emit(events.Attention(False))
            self._contain("ends", self._late_ends.look_ended)

    def _wait_for_late_starters(self) -> None:
        optimizers, idle, unfed = self._known.optimizers, [], []
        for optimizer in optimizers.alive():
            if optimizers.is_idle(optimizer):
                idle += optimizers.params(optimizer)
            else:
                unfed += [p for p in optimizers.params(optimizer) if p.requires_grad and not self._was_fed(p)]
        self.late.wait_for(idle, unfed)

    def _was_fed(self, param: torch.Tensor) -> bool:
        return self._sketch.was_ever_fed(self._known.leaves.find(param))

    def _has_come(self) -> None:
        self._leave_fast_path()
        self.something_new("late network")

    def news(self, reason: events.Reason) -> None:
        """A tap saw something that is worth a closer look."""
        if self.mode == "light" and not self.fast_path.on:
            return  # it does not look any closer
        if self._may_look():
            if self.mode == "light":
                self._looked += FOR_NEWS
            self._leave_fast_path()
            self.something_new(reason)

    def silence(self) -> None:
        """Nothing has been differentiable for long: wait until something is."""
        if self.mode == "adaptive":
            self.go_light()
            self._wait_for_late_starters()

    def something_new(self, reason: events.Reason) -> None:
        """Look deeply for a few iterations, unless news is all there ever is."""
        # Not for full looks: putting methods on a class and taking them off throws away Python's caches.
        self._patches.wake()
        if self.mode == "adaptive" and self._may_look():
            self.go_deep(reason, FOR_NEWS)

    def _may_look(self) -> bool:
        return self._looked < FIRST_ITERATIONS + 32 + BUDGET * self._sink.iteration

    def after_iteration(self) -> None:
        """Called at the end of every iteration that did not take the fast path."""
        familiar = self._sink.familiar
        self.fast_path.end_of_iteration(familiar)
        if self._tracing.tap is not None:
            self._looked += 1
            newest = self._tap.values.newest
            self._smallest, self._newest = min(self._smallest, newest - self._newest), newest
            self._tap.end_of_iteration()
            if self.mode == "adaptive":
                self._deep_left -= 1
                if (self._deep_left <= 0 or self._has_seen_enough()) and not self._is_in_suspense():
                    self.go_light()
            self._in_vain = False
            return
        self._full_left = 0 if familiar else max(0, self._full_left - 1)
        self._familiar = self._familiar + 1 if familiar else 0
        if self._sink.news:
            self.something_new("unlike")
        elif self._expects_something():
            return
        elif self._familiar >= FAMILIAR_IN_A_ROW and not self._full_left and self.mode != "deep":
            self._wait_for_late_starters()
            self._look_at_what_stays()
            self._cruise()
            self._patches.rest()

    def _has_seen_enough(self) -> bool:
        """Not where the first of them held a rollout, and the others learn from it bit by bit; nor where a gradient is
        zero: who ends it is looked for from the second time on."""
        enough = FEWER_ITERATIONS <= self._looked < FIRST_ITERATIONS and self._smallest > MANY_VALUES
        return enough and not self._in_vain

    def _is_in_suspense(self) -> bool:
        """What is carried on once in several iterations takes longer to be told from what is cut off in time."""
        depth = self._tap.values.reaches_back
        return CARRIED <= depth < FOR_CERTAIN and self._looked < FIRST_ITERATIONS + ITERATIONS_MORE

    def backward(self, event: events.Backward) -> None:
        """A loss was met at full attention; those that come back now and then are to be traced, too."""
        if self.mode == "adaptive":
            self._in_vain |= any(norm == 0.0 for _, norm in event.facts.norms)
            traced = any(root.nid for root in event.roots)
            key = (event.site, event.chain, event.nodes)
            self._returning.seen(key, self._sink.iteration, traced)

    def optimizer_made(self) -> None:
        """A phase begins: what it trains may have been trained before, by another."""
        if self.mode == "adaptive" and self._tracing.tap is None:
            self._wait_for_late_starters()

    def _expects_something(self) -> bool:
        if self._sink.iteration < self._returning.next:
            return False
        length = self._returning.length(self._sink.iteration)
        if length and self.mode == "adaptive" and self._may_look():
            self._patches.wake()
            self.go_deep("returning", length)
        return self._tracing.tap is not None

    # -- cruising ---------------------------------------------------------------------------------------

    def _cruise(self) -> None:
        iteration, path = self._sink.iteration, self.fast_path
        path.begin(iteration)
        path.due = self._full_due = min(path.due, self._returning.next - iteration)
        self._held_due = self._held.due(self._tap.values.traced) - iteration
        if 0 < self._held_due < path.due:
            path.due = self._held_due

    def _look_again(self) -> None:
        skipped = self.fast_path.skipped
        if skipped == self._held_due < self._full_due:
            self.fast_path.due = self._full_due
            self._look_at_what_is_held(skipped, self._held.find)
            return
        self._leave_fast_path()
        self._full_left = FULL_LENGTH
        if self._expects_something():
            return
        if self.mode == "adaptive" and self._may_look() and self._late_ends.have_come():
            self._patches.wake()
            self.go_deep("ends", FOR_ENDS)
        elif self.mode == "adaptive" and self._dice.random() < skipped / AT_RANDOM:
            self.go_deep("random", 1)

    def _look_at_what_stays(self, find: Find | None = None) -> None:
        """Weights that moved unseen, and graphs that somebody holds."""
        with torch._C.DisableTorchFunction():
            moved = self._standing.look(self._sink.iteration)
        if moved is not None:
            self._emit(moved)
        self._look_at_what_is_held(0, find or self._held.find)

    def _look_at_what_is_held(self, skipped: int, find: Find) -> None:
        """In passing, too: only what is found ends that."""
        with torch._C.DisableTorchFunction():
            held = find(self._tap.values, self._sink.iteration + skipped)
        if held is not None:
            self._emit(held)

    def _leave_fast_path(self) -> None:
        self.fast_path.end()
        if self.fast_path.has_unseen:
            self._sink.skip(self.fast_path.take_skipped())
            self._sketch.lost_track()

    def before_event(self) -> None:
        """A boundary is about to be recorded: if that ends a fast_path, bring the books up to date first."""
        if self.fast_path.has_unseen and not self.fast_path.on:
            self._leave_fast_path()
            self.something_new("unexpected boundary")
