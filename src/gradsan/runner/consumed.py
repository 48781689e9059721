"""A sink: what every step took, and which lines fed and stepped which parameters, by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradsan.judge.history import History
from gradsan.judge.source import shown_path
from gradsan.judge.wording import name_of
from gradsan.record.events import Backward, Consumed, Event, IterationEnd, ParamId, Repeated, Site, Step


class ConsumedSink:
    def __init__(self, history: History, after_iteration: Callable[[], None]) -> None:
        self._history = history
        self._after_iteration = after_iteration
        self._steps: list[Consumed] = []
        self._lines: dict[Site, set[ParamId]] = {}
        self._losses: list[float] = []
        self._by_hand = True  # until an optimizer steps

    def feed(self, event: Event) -> None:
        if isinstance(event, Consumed):
            self._steps.append(event)
            self._by_hand = False
        elif isinstance(event, Backward):
            self._losses.append(event.loss)
            self._lines.setdefault(event.site, set()).update(event.fed)
        elif isinstance(event, Step):
            self._lines.setdefault(event.site, set()).update(event.held)
        elif isinstance(event, IterationEnd | Repeated) and self._by_hand:
            self._after_iteration()  # no optimizer's hook will count it

    def finish(self) -> None: ...

    def as_dict(self) -> dict[str, Any]:
        steps = [
            {
                "optimizer": event.oid,
                "line": self._line(event.site),
                "taken": {self._name(d.pid): d.digest for d in event.taken},
                "waiting": {self._name(d.pid): d.digest for d in event.waiting},
            }
            for event in self._steps
        ]
        lines = {self._line(site): self._names(pids) for site, pids in self._lines.items()}
        return {"steps": steps, "lines": lines, "loss": next(iter(self._losses), 0.0)}

    def _line(self, site: Site) -> str:
        seen = self._history.sites.get(site)
        return f"{shown_path(seen.file)}:{seen.line}" if seen is not None else ""

    def _names(self, pids: Iterable[ParamId]) -> list[str]:
        return sorted({self._name(pid) for pid in pids})

    def _name(self, pid: ParamId) -> str:
        return name_of(self._history, pid)
