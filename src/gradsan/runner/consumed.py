"""A sink: what every step took, what was clipped, and which lines have to do with which parameters, by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gradsan.judge.history import History
from gradsan.judge.lines.source import shown_path
from gradsan.judge.report.wording import name_of
from gradsan.record.events import (
    NOBODY,
    Backward,
    Clip,
    Consumed,
    Event,
    IterationEnd,
    Ops,
    ParamId,
    Repeated,
    Site,
    Step,
)
from gradsan.runner.concerned import Bits, ConcernedParameters


class ConsumedSink:
    def __init__(self, history: History, after_iteration: Callable[[], None]) -> None:
        self._history = history
        self._after_iteration = after_iteration
        self._steps: list[Consumed] = []
        self._lines: dict[Site, set[ParamId]] = {}
        self._losses: list[float] = []
        self._clips: dict[tuple[Site, str], set[ParamId]] = {}
        self._concerned = ConcernedParameters(history)
        self._by_hand = True  # until an optimizer steps

    def feed(self, event: Event) -> None:
        if isinstance(event, Consumed):
            self._steps.append(event)
            self._by_hand = False
        elif isinstance(event, Backward):
            self._losses.append(event.loss)
            self._lines.setdefault(event.site, set()).update(event.fed)
            self._concerned.look(event)
        elif isinstance(event, Clip):
            self._clips.setdefault((event.site, event.how), set()).update(event.held)
        elif isinstance(event, Ops):
            for op in event.ops:
                if op.facts.clipped != NOBODY:
                    self._clips.setdefault((op.site, op.name), set()).add(op.facts.clipped)
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
                "directions": self._directions(event),
            }
            for event in self._steps
        ]
        lines = {self._line(site): self._names(pids) for site, pids in self._lines.items()}
        clips = [
            {"line": self._line(site), "how": how, "clipped": self._names(pids)}
            for (site, how), pids in self._clips.items()
        ]
        return {
            "steps": steps,
            "lines": lines,
            "loss": next(iter(self._losses), 0.0),
            "clips": clips,
            "concerned": self._concerned_by_name(),
        }

    def _directions(self, event: Consumed) -> dict[str, tuple[float, ...]]:
        """Only a clip by norm makes them worth knowing, and large networks have many."""
        if not any(how == "norm" for _, how in self._clips):
            return {}
        return {self._name(d.pid): d.direction for d in (*event.taken, *event.waiting)}

    def _concerned_by_name(self) -> dict[str, Any]:
        seen = self._concerned
        return {
            "behind": self._by_line(seen.behind),
            "meets": self._by_line(seen.meets),
            "before": {self._name(pid): self._of(bits) for pid, bits in seen.before.items()},
            "losses": [{"feeds": self._names(fed), "made_of": self._of(bits)} for fed, bits in seen.losses],
        }

    def _by_line(self, found: Mapping[Site, Bits]) -> dict[str, list[str]]:
        lines: dict[str, Bits] = {}
        for site, bits in found.items():
            line = self._line(site)
            lines[line] = lines.get(line, 0) | bits
        return {line: self._of(bits) for line, bits in lines.items() if line}

    def _of(self, bits: Bits) -> list[str]:
        return self._names(self._concerned.params(bits))

    def _line(self, site: Site) -> str:
        seen = self._history.sites.get(site)
        return f"{shown_path(seen.file)}:{seen.line}" if seen is not None else ""

    def _names(self, pids: Iterable[ParamId]) -> list[str]:
        return sorted({self._name(pid) for pid in pids})

    def _name(self, pid: ParamId) -> str:
        return name_of(self._history, pid)
