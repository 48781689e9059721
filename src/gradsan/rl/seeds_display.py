"""One display for many seeds: all of them in the first line, below it those that are under way."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Column

from gradsan.rl.display import REFRESH_PER_SECOND, Speed

# What the columns beside title and bar take at most.
ROOM = 58


class SeedsDisplay:
    """In a terminal a few lines that move; elsewhere a line for each seed as it ends."""

    def __init__(self, title: str, seeds: int, steps: int, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            BarColumn(max(4, min(30, self.console.width - len(title) - ROOM))),
            TextColumn("{task.fields[done]}", table_column=Column(no_wrap=True)),
            Speed(Column(no_wrap=True)),
            TextColumn("{task.fields[shown]}", style="green", table_column=Column(no_wrap=True)),
            TimeRemainingColumn(compact=True),
            console=self.console,
            refresh_per_second=REFRESH_PER_SECOND,
        )
        self._bar.disable = not self.console.is_terminal
        self._steps, self._seeds = steps, seeds
        self._rows: dict[int, TaskID] = {}
        self._at: dict[int, int] = {}  # steps of every seed that was begun
        self._said: set[str] = set()
        self._finished = 0
        self._all = self._bar.add_task(title, total=seeds * steps, done=f"0/{seeds} seeds", shown="")

    def update(self, seed: int, step: int, mean_return: float | None) -> None:
        shown = "" if mean_return is None else f"return {mean_return:.1f}"
        self._bar.update(self._row(seed), completed=step, done=f"{step:,}", shown=shown)
        self._at[seed] = min(step, self._steps)
        self._bar.update(self._all, completed=sum(self._at.values()))

    def ended(self, seed: int, *, finished: bool) -> None:
        row = self._rows.pop(seed, None)
        if row is not None:
            self._bar.remove_task(row)
        self._at[seed] = self._steps if finished else 0
        self._finished += finished
        done = f"{self._finished}/{self._seeds} seeds"
        self._bar.update(self._all, completed=sum(self._at.values()), done=done)

    def say_of(self, seed: int, message: str) -> None:
        """What a seed has to say; what another said before in the same words is not repeated."""
        if message not in self._said:
            self._said.add(message)
            self.say(f"seed {seed}: {message}")

    def say(self, message: str) -> None:
        self.console.print(message, markup=False, highlight=False, soft_wrap=True)

    def _row(self, seed: int) -> TaskID:
        if seed not in self._rows:
            self._rows[seed] = self._bar.add_task(f"  seed {seed}", total=self._steps, done="0", shown="")
        return self._rows[seed]

    def __enter__(self) -> SeedsDisplay:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
