"""The way out: where events go, in which order, and what could not be looked at."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import FrameType
from typing import Protocol

from gradsan.observe.containment import Containment
from gradsan.observe.focus.tracing import Tracing
from gradsan.observe.sites import Sites
from gradsan.record.events import Blind, BlindSpot, Event


class Recording(Protocol):
    """Whoever takes the events, and counts iterations by them."""

    familiar: bool
    """Whether the last iteration went like others that were judged often enough."""
    news: bool
    """Whether the last iteration went like none before it."""

    @property
    def iteration(self) -> int: ...
    def emit(self, event: Event) -> None: ...
    def skip(self, iterations: int) -> None:
        """Iterations went by like known ones, without being looked at."""

    def catch_up(self) -> None:
        """Judge what is held back: somebody is going to ask."""

    def finish(self) -> None: ...


class Outlet:
    def __init__(self, send: Callable[[Event], None], tracing: Tracing) -> None:
        self.send = send  # at once: what operations refer to comes before them
        self._tracing = tracing
        self._lock = threading.RLock()

    def emit(self, event: Event) -> None:
        """After the operations that led to it."""
        with self._lock:
            self._tracing.flush()
            self.send(event)


class BlindSpots:
    """What could not be looked at: each is told once."""

    def __init__(self, containment: Containment, outlet: Outlet, sites: Sites) -> None:
        self._contain, self._emit, self._sites = containment.contain_even_traced, outlet.emit, sites
        self._told: set[str] = set()

    def add(self, spot: BlindSpot, frame: FrameType | None) -> None:
        if spot not in self._told:
            self._told.add(spot)
            self._contain("blind", lambda: self._emit(Blind(spot, self._sites.here(frame))))
