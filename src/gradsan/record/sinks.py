"""Where events go: the trace file, the judge, those who follow a run, the picture. None of them knows the others."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from typing import Protocol

from gradsan.record.events import Event, Fault


class Sink(Protocol):
    """Anything that takes events, until it is told that no more will come."""

    def feed(self, event: Event) -> None: ...

    def finish(self) -> None: ...


class Sinks:
    """Several sinks as one. A sink that breaks must not cost the others an event: it is left out from then on."""

    def __init__(self, sinks: Iterable[Sink]) -> None:
        self._sinks = list(sinks)
        self.faults: list[Fault] = []  # for whoever tells them where the judge itself is the one that broke

    def add(self, sink: Sink) -> None:
        self._sinks.append(sink)

    def drop(self, sink: Sink) -> None:
        self._sinks = [other for other in self._sinks if other is not sink]

    def feed(self, event: Event) -> None:
        for sink in self._sinks:
            try:
                sink.feed(event)
            except Exception:
                self._broke(sink)

    def finish(self) -> None:
        for sink in self._sinks:
            try:
                sink.finish()
            except Exception:
                self._broke(sink)

    def _broke(self, sink: Sink) -> None:
        self.drop(sink)
        fault = Fault(type(sink).__name__, traceback.format_exc())
        self.faults.append(fault)
        self.feed(fault)
