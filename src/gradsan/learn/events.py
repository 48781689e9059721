"""What the course waits for: a key, or a saved exercise."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gradsan.learn import keys
from gradsan.learn.errors import CourseError


@dataclass(frozen=True)
class Key:
    name: str


@dataclass(frozen=True)
class Saved:
    """One or more files, written at about the same time."""

    files: frozenset[str]


Event = Key | Saved | CourseError


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
        except Exception as error:  # a thread that died in silence would look like a course that hangs
            events.put(CourseError(f"The course can no longer listen: {error}"))

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    return thread
