"""How closely to look: deep (every operation), full (every boundary), or cruising (see `fast_path`)."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch

from gradsan.observe.compiled import Compiled
from gradsan.observe.context import Context
from gradsan.observe.fast_path import FULL_LENGTH
from gradsan.observe.late_starters import LateStarters
from gradsan.observe.operations import OperationTap
from gradsan.record import events
from gradsan.record.recorder import Recorder

FIRST_ITERATIONS = 12
FOR_NEWS = 4  # deep iterations when something new happens
FAMILIAR_IN_A_ROW = 2
BUDGET = 0.02  # share of iterations that news may make deep, beyond the first ones
AT_RANDOM = 2_000  # one iteration in so many is deep for no reason at all


class AttentionPolicy:
    def __init__(self, context: Context, recorder: Recorder, mode: str) -> None:
        self.context = context
        self.recorder = recorder
        self.mode = mode
        self.tap = OperationTap(context)
        self.compiled = Compiled(context)
        self._deep_left = 0
        self._looked = 0  # iterations that were looked at closely
        self._familiar = 0
        self._full_left = 0
        self._dice = random.Random(0)  # our own: the script's random state is none of our business
        self._late = LateStarters(lambda: context.contain("late", self._has_come))
        context.fast_path.on_due = lambda: context.contain("fast path", self._look_again)
        # Not called for full looks: putting methods on a class and taking them off throws away Python's caches.
        self.on_close_look: list[Callable[[], None]] = []
        context.on_news = self._news
        context.on_silence = self._silence

    def start(self) -> None:
        if self.mode != "light":
            self.go_deep("the first iterations" if self.mode == "adaptive" else "asked for", FIRST_ITERATIONS)

    def stop(self) -> None:
        self._late.stop_waiting()
        self._leave_fast_path()
        self.go_light()
        self.tap.leave()  # another thread may have made the run light; the stack is this one's

    # -- deep and light -------------------------------------------------------------------------------

    def go_deep(self, reason: str, iterations: int) -> None:
        self._deep_left = max(self._deep_left, iterations)
        if self.context.operations is None:
            self._look_closely()
            self.context.emit(events.Attention(True, reason))
            self.context.operations = self.tap
            self.tap.enter()
            self.context.contain("compile", self.compiled.run_eagerly)

    def go_light(self) -> None:
        if self.context.operations is not None:
            self.tap.flush()
            self.tap.leave()
            self.context.contain("compile", self.compiled.run_compiled)
            self.context.operations = None
            self.context.emit(events.Attention(False, ""))

    def _wait_for_late_starters(self) -> None:
        optimizers, idle, unfed = self.context.optimizers, [], []
        for optimizer in optimizers.alive():
            if optimizers.is_idle(optimizer):
                idle += optimizers.params(optimizer)
            else:
                unfed += [p for p in optimizers.params(optimizer) if p.requires_grad and not self._was_fed(p)]
        self._late.wait_for(idle, unfed)

    def _was_fed(self, param: torch.Tensor) -> bool:
        return self.context.leaves.find(param) in self.context.ever_fed

    def _has_come(self) -> None:
        self._leave_fast_path()
        self.something_new("a network that is about to learn for the first time")

    def _news(self, reason: str) -> None:
        if self._may_look():
            if self.mode == "light":
                self._looked += FOR_NEWS
            self._leave_fast_path()
            self.something_new(reason)

    def _silence(self) -> None:
        """Nothing has been differentiable for long: wait until something is."""
        if self.mode == "adaptive":
            self.go_light()
            self._wait_for_late_starters()

    def something_new(self, reason: str) -> None:
        """Look deeply for a few iterations, unless news is all there ever is."""
        self._look_closely()
        if self.mode == "adaptive" and self._may_look():
            self.go_deep(reason, FOR_NEWS)

    def _look_closely(self) -> None:
        for call in self.on_close_look:
            call()

    def _may_look(self) -> bool:
        return self._looked < FIRST_ITERATIONS + 32 + BUDGET * self.recorder.iteration

    def after_iteration(self) -> None:
        """Called at the end of every iteration that did not take the fast path."""
        familiar = self.recorder.familiar
        self.context.fast_path.end_of_iteration(familiar)
        if self.context.operations is not None:
            self._looked += 1
            self.tap.end_of_iteration()
            if self.mode == "adaptive":
                self._deep_left -= 1
                if self._deep_left <= 0:
                    self.go_light()
            return
        self._full_left = 0 if familiar else max(0, self._full_left - 1)
        self._familiar = self._familiar + 1 if familiar else 0
        if self.recorder.news:
            self.something_new("an iteration unlike the others")
        elif self._familiar >= FAMILIAR_IN_A_ROW and not self._full_left and self.mode != "deep":
            self._wait_for_late_starters()
            self.context.fast_path.begin(self.recorder.iteration)

    # -- cruising ---------------------------------------------------------------------------------------

    def _look_again(self) -> None:
        skipped = self.context.fast_path.skipped
        self._leave_fast_path()
        self._full_left = FULL_LENGTH
        if self.mode == "adaptive" and self._dice.random() < skipped / AT_RANDOM:
            self.go_deep("a random look", 1)

    def _leave_fast_path(self) -> None:
        fast_path = self.context.fast_path
        fast_path.end()
        if fast_path.skipped:
            skipped, fast_path.skipped = fast_path.skipped, 0
            self.recorder.skip(skipped)
            self.context.lost_track()

    def before_event(self) -> None:
        """A boundary is about to be recorded: if that ends a fast_path, bring the books up to date first."""
        if self.context.fast_path.skipped and not self.context.fast_path.on:
            self._leave_fast_path()
            self.something_new("a boundary where none was expected")
