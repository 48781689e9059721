"""The progress bar: steps per second, return so far, and when it will be done."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

# Redrawn at most this often, whatever the speed of training.
REFRESH_PER_SECOND = 5
# What the other columns take at most, beside the title: 100000/100000, 9,345 steps/s, return -1234.5, eta.
ROOM = 56


class Speed(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f} steps/s" if task.speed else "– steps/s", style="cyan")


class ProgressView(Protocol):
    """Where a run that is under way is shown: on this terminal, or in another process."""

    def update(self, step: int, mean_return: float | None) -> None: ...
    def evaluated(self, step: int, mean: float, spread: float) -> None: ...
    def say(self, message: str) -> None: ...
    def __enter__(self) -> ProgressView: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Display:
    """One line that moves in a terminal; nothing but plain messages elsewhere."""

    def __init__(self, title: str, total: int, done: int = 0, console: Console | None = None) -> None:
        console = console or Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(max(4, min(40, console.width - len(title) - ROOM))),
            MofNCompleteColumn(table_column=Column(no_wrap=True)),
            Speed(Column(no_wrap=True)),
            TextColumn("return {task.fields[shown]}", style="green"),
            TextColumn("eta"),
            TimeRemainingColumn(),
            console=console,
            refresh_per_second=REFRESH_PER_SECOND,
        )
        self._bar.disable = not self._bar.console.is_terminal
        self._task = self._bar.add_task(title, total=total, completed=done, shown="–")
        self._total = total

    def update(self, step: int, mean_return: float | None) -> None:
        shown = "–" if mean_return is None else f"{mean_return:.1f}"
        self._bar.update(self._task, completed=min(step, self._total), shown=shown)

    def evaluated(self, step: int, mean: float, spread: float) -> None:
        self.say(f"step {step:,}: evaluation {mean:.1f} ± {spread:.1f}")

    def say(self, message: str) -> None:
        # No markup: brackets in a message are part of it.
        self._bar.console.print(message, markup=False, highlight=False, soft_wrap=True)

    def __enter__(self) -> Display:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
