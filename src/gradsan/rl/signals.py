"""Ctrl-C and SIGTERM ask for an orderly stop; a second Ctrl-C insists."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StopRequest:
    requested = False

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        # Straight to the file: a handler may interrupt a print that is under way.
        os.write(2, b"\nStopping as soon as the state can be saved (again: at once) ...\n")


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Handlers are as before afterwards. Outside the main thread Python allows none: then nothing changes."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: signal.signal(number, request) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
