"""What the course waits for: a key, a saved exercise, or the end of a check."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gradsan.learn import keys
from gradsan.learn.catalogue import Exercise
from gradsan.learn.checker import Checker
from gradsan.learn.errors import CourseError
from gradsan.learn.verdict import Grade


@dataclass(frozen=True)
class Key:
    name: str


@dataclass(frozen=True)
class Saved:
    """One or more files, written at about the same time."""

    files: frozenset[str]


@dataclass(frozen=True)
class Checked:
    check: RunningCheck
    grade: Grade


Event = Key | Saved | Checked | CourseError


class RunningCheck:
    """A check in the background: keys and saves are heard meanwhile, and may be the end of it."""

    def __init__(self, checker: Checker, exercise: Exercise, path: Path, events: queue.Queue[Event]) -> None:
        self._checker = checker
        checker.warm()  # here, where a missing PyTorch is told at once
        self._thread = _start(events, lambda: events.put(Checked(self, checker.check(exercise, path))))

    def abandon(self) -> None:
        """Stop it. What it still puts into the queue is the end of a check that nobody asks about any more."""
        while self._thread.is_alive():
            self._checker.stop()
            self._thread.join(timeout=0.1)  # again, should it be about to start another process


@contextlib.contextmanager
def listen(folder: Path) -> Iterator[queue.Queue[Event]]:
    """A queue that fills with keys and saves until the block is left."""
    try:
        from watchfiles import watch
    except ImportError as error:
        raise CourseError('Watching files needs one more package: pip install "gradsan[learn]".') from error
    events: queue.Queue[Event] = queue.Queue()
    stop = threading.Event()

    def watch_files() -> None:
        # Rename-on-save editors replace the file, so the folder is watched, not the file itself.
        for changes in watch(
            folder, stop_event=stop, recursive=False, rust_timeout=200, raise_interrupt=False
        ):
            events.put(Saved(frozenset(Path(path).name for _, path in changes)))

    def read_keys() -> None:
        for key in keys.pressed():
            events.put(Key(key))

    with keys.unbuffered():
        watcher = _start(events, watch_files)
        _start(events, read_keys)  # blocked in a read at the end: a daemon, it goes with the process
        try:
            yield events
        finally:
            stop.set()
            watcher.join(timeout=2)


def _start(events: queue.Queue[Event], work: Callable[[], None]) -> threading.Thread:
    def guarded() -> None:
        try:
            work()
        except CourseError as error:
            events.put(error)
        except Exception as error:  # a thread that died in silence would look like a course that hangs
            events.put(CourseError(f"The course can no longer listen: {error}"))

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    return thread
