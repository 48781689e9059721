"""One iteration in order, lane by lane: who fed, clipped, applied and cleared which optimizer's gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gradsan.judge.history import History, Optimizer
from gradsan.judge.provenance import SOURCES
from gradsan.judge.report.findings import Finding, Location
from gradsan.picture.model import Timeline, TimelineEntry
from gradsan.record.events import (
    NOWHERE,
    Backward,
    Clip,
    Event,
    Ops,
    OptimizerId,
    ParamId,
    Site,
    Step,
    Sync,
    ZeroGrad,
)

MOST = 200  # entries of one iteration: what is longer has been folded badly, or is no iteration
SETTLED = 8  # the first iterations are full of firsts; of equally rich ones the later is the better


@dataclass(slots=True)
class Boundary:
    kind: str
    site: Site
    pids: frozenset[ParamId]
    oid: OptimizerId | None = None
    number: float = 0
    until: Site = NOWHERE
    times: int = 1

    def same(self, other: Boundary) -> bool:
        return (self.kind, self.site, self.oid, self.pids) == (other.kind, other.site, other.oid, other.pids)


@dataclass(slots=True)
class IterationLog:
    """Keeps the iteration in which the most different things happened."""

    current: list[Boundary] = field(default_factory=list)
    best: list[Boundary] = field(default_factory=list)
    iteration: int = 0

    def see(self, event: Event) -> None:
        boundary = _boundary(event)
        if boundary is None or len(self.current) >= MOST:
            return
        last = self.current[-1] if self.current else None
        if last is not None and last.kind == boundary.kind == "forward":
            last.number += boundary.number
            last.until = boundary.until
        elif last is not None and last.same(boundary):
            last.times += 1
        else:
            self.current.append(boundary)

    def end_iteration(self, iteration: int) -> None:
        new, old = _richness(self.current), _richness(self.best)
        if new > old or (new == old and iteration <= SETTLED):
            self.best, self.iteration = self.current, iteration
        self.current = []


def _richness(boundaries: list[Boundary]) -> int:
    return len({(h.kind, h.site, h.oid) for h in boundaries})


def _boundary(event: Event) -> Boundary | None:
    if isinstance(event, Ops):
        done = [op for op in event.ops if op.kind not in SOURCES and op.site]
        if not done:
            return None
        return Boundary("forward", done[0].site, frozenset(), None, len(done), done[-1].site)
    if isinstance(event, Backward):
        return Boundary("backward", event.site, frozenset(event.fed), None, event.loss)
    if isinstance(event, Clip):
        return Boundary("clip", event.site, frozenset(event.params), None, event.limit)
    if isinstance(event, Step):
        return Boundary("step", event.site, frozenset(event.held), event.oid)
    if isinstance(event, ZeroGrad):
        return Boundary("zero_grad", event.site, frozenset(event.params))
    if isinstance(event, Sync) and event.how not in ("deepcopy", "found", "moved"):
        return Boundary("sync", event.site, frozenset(pid for pid, _ in event.pairs))
    return None


@dataclass(slots=True)
class Held:
    """What the gradients of one optimizer consist of."""

    lines: list[int] = field(default_factory=list)
    spent: bool = False

    def apply(self, boundary: Boundary, history: History) -> None:
        line = history.sites[boundary.site].line if boundary.site in history.sites else 0
        if boundary.kind == "backward":
            self.spent = False
            if line not in self.lines:
                self.lines.append(line)
        elif boundary.kind == "step":
            self.spent = True
        elif boundary.kind == "zero_grad":
            self.lines.clear()


def timeline(
    log: IterationLog,
    history: History,
    locate: Callable[[Site], Location | None],
    findings: list[Finding],
    lane_name: Callable[[Optimizer], str],
) -> Timeline:
    boundaries = _from_forward(log.best or log.current)
    optimizers = [o for o in history.optimizers.values() if o.steps] or list(history.optimizers.values())
    found = Timeline(log.iteration, [lane_name(o) for o in optimizers])
    held = [Held() for _ in optimizers]
    for turn in (False, True):  # once over to see what the iteration before has left behind
        for boundary in boundaries if turn or log.iteration > 1 else ():
            lanes = [n for n, o in enumerate(optimizers) if _concerns(boundary, o)]
            for lane in lanes:
                held[lane].apply(boundary, history)
            if turn:
                found.entries.append(_entry(boundary, lanes, locate, findings))
                found.held.append([list(lane.lines) for lane in held])
                found.spent.append([lane.spent for lane in held])
    return found


def _from_forward(boundaries: list[Boundary]) -> list[Boundary]:
    """Iterations are counted from step to step; one reads them from the forward pass on."""
    first = next((n for n, h in enumerate(boundaries) if h.kind == "forward"), 0)
    return [*boundaries[first:], *boundaries[:first]]


def _concerns(boundary: Boundary, optimizer: Optimizer) -> bool:
    if boundary.kind == "step":
        return boundary.oid == optimizer.oid
    return boundary.kind != "sync" and bool(boundary.pids & set(optimizer.params))


def _entry(
    boundary: Boundary,
    lanes: list[int],
    locate: Callable[[Site], Location | None],
    findings: list[Finding],
) -> TimelineEntry:
    where = locate(boundary.until or boundary.site)
    text = where.code if where is not None else ""
    if boundary.kind == "forward":
        text = f"{boundary.number:.0f} operations"
    about = [
        i
        for i, f in enumerate(findings)
        if where is not None and boundary.kind != "forward" and where in (f.culprit, *_told(f))
    ]
    return TimelineEntry(boundary.kind, where, lanes, text, boundary.times, about)


def _told(finding: Finding) -> list[Location]:
    return [site.location for site in finding.sites]
