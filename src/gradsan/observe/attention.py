"""When to look deeply: always, never, or while something is new."""

from __future__ import annotations

from gradsan.observe.context import Context
from gradsan.observe.operations import OperationTap
from gradsan.record import events

FIRST_ITERATIONS = 16


class Attention:
    def __init__(self, context: Context, mode: str) -> None:
        self.context = context
        self.mode = mode
        self.tap = OperationTap(context)
        self._deep_left = 0

    def start(self) -> None:
        if self.mode != "light":
            self.go_deep("the first iterations" if self.mode == "adaptive" else "asked for", FIRST_ITERATIONS)

    def stop(self) -> None:
        self.go_light()
        self.tap.leave()  # another thread may have made the run light; the stack is this one's

    def go_deep(self, reason: str, iterations: int) -> None:
        self._deep_left = max(self._deep_left, iterations)
        if self.context.operations is None:
            self.context.emit(events.Attention(True, reason))
            self.context.operations = self.tap
            self.tap.enter()

    def go_light(self) -> None:
        if self.context.operations is not None:
            self.tap.flush()
            self.tap.leave()
            self.context.operations = None
            self.context.emit(events.Attention(False, ""))

    def after_step(self, new_iteration: bool) -> None:
        if not new_iteration or self.context.operations is None:
            return
        self.tap.end_of_iteration()
        if self.mode == "adaptive":
            self._deep_left -= 1
            if self._deep_left <= 0:
                self.go_light()
