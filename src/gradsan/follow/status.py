"""`--live`: one line about the run while it goes on."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from typing import TextIO

from rich.text import Text

from gradsan.follow.lastline import LastLine
from gradsan.follow.magnitudes import NAMING, optimizer_name, together
from gradsan.judge.history import History
from gradsan.judge.report.findings import SEVERITIES
from gradsan.record.events import Event, Sample
from gradsan.render.page import Page, plain
from gradsan.runner.watch import Watch

INTERVAL = 0.25  # seconds between two drawings
WINDOW = 20  # drawings that the speed is taken over
POINTS = 16  # of a sparkline
BARS = "▁▂▃▄▅▆▇█"


class Status:
    """Follows a watch; draws from a thread of its own, so that a slow iteration shows as such."""

    def __init__(self, watch: Watch, stream: TextIO) -> None:
        self._watch = watch
        self._history = History()
        self._line = LastLine(stream)
        self._page = Page.of(stream)
        self._norms: dict[int, deque[float]] = {}
        self._names: dict[int, str] = {}
        self._times: deque[tuple[float, int]] = deque(maxlen=WINDOW)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gradsan-live", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def feed(self, event: Event) -> None:
        if isinstance(event, NAMING):
            self._history.apply(event)
        elif isinstance(event, Sample) and event.norms:
            self._names[event.oid] = optimizer_name(self._history, event.oid, (row[0] for row in event.norms))
            norms = self._norms.setdefault(event.oid, deque(maxlen=POINTS))
            norms.append(together(event.norms).gradient)

    def finish(self) -> None:
        self._end.set()
        if self._thread.is_alive():
            self._thread.join(1.0)  # not for ever: in a signal handler it may wait for what we hold
        self._line.close()

    def _run(self) -> None:
        try:
            while not self._end.wait(INTERVAL):
                self._line.draw(self.text(self._line.width(), time.monotonic()))
        except Exception:
            self._end.set()  # a terminal that went away; the run goes on

    def text(self, width: int, now: float) -> str:
        self._times.append((now, self._watch.iteration))
        line = Text.assemble(("gradsan ", "quiet"), f"iteration {self._watch.iteration:,}", self._speed())
        line.append_text(self._findings())
        for oid, norms in list(self._norms.items()):
            shown = f"  {plain(self._names[oid])} {self._sparkline(list(norms))}{_short(norms[-1])}"
            if line.cell_len + len(shown) < width:
                line.append(shown, "place")
        console = self._page.console(width)
        console.print(line, no_wrap=True, overflow="ellipsis", crop=True)
        return self._page.text_of(console).rstrip("\n")

    def _speed(self) -> str:
        (then, before), (now, after) = self._times[0], self._times[-1]
        return f"  {_short((after - before) / (now - then))}/s" if now > then else ""

    def _findings(self) -> Text:
        found = [finding.severity for finding in self._watch.findings]
        text = Text("" if found else "  no findings", "fix")
        for severity in reversed(SEVERITIES):
            if number := found.count(severity):
                plural = "s" if number > 1 and severity != "info" else ""
                text.append(f"  {number} {severity}{plural}", severity)
        return text

    def _sparkline(self, values: list[float]) -> str:
        return sparkline(values) + " " if self._page.unicode and len(values) > 1 else ""


def sparkline(values: list[float]) -> str:
    """On a logarithmic scale: a norm that grows tenfold is one that grows tenfold, wherever it started."""
    logs = [math.log10(v) if 0 < v < math.inf else None for v in values]
    known = [log for log in logs if log is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    step = max(high - low, 0.3) / (len(BARS) - 1)  # less than a factor of two is a quiet line
    return "".join(_bar(value, log, low, step) for value, log in zip(values, logs, strict=True))


def _bar(value: float, log: float | None, low: float, step: float) -> str:
    if log is None:
        return BARS[0] if value == 0 else "!"
    return BARS[min(len(BARS) - 1, round((log - low) / step))]


def _short(value: float) -> str:
    return f"{value:,.0f}" if 100 <= abs(value) < 1e6 else f"{value:.2g}"
