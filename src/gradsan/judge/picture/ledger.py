"""One iteration in order, lane by lane: who fed, clipped, applied and cleared which optimizer's gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gradsan.judge.findings import Finding, Location
from gradsan.judge.picture.model import Entry, Timeline
from gradsan.record.events import Backward, Clip, Event, Ops, Site, Step, Sync, ZeroGrad
from gradsan.record.history import History, Optimizer
from gradsan.record.provenance import SOURCES

MOST = 200  # entries of one iteration: what is longer has been folded badly, or is no iteration
SETTLED = 8  # the first iterations are full of firsts; of equally rich ones the later is the better


@dataclass(slots=True)
class Happening:
    kind: str
    site: Site
    pids: frozenset[int]
    oid: int = 0
    number: float = 0
    until: Site = 0
    times: int = 1

    def same(self, other: Happening) -> bool:
        return (self.kind, self.site, self.oid, self.pids) == (other.kind, other.site, other.oid, other.pids)


@dataclass(slots=True)
class Chronicle:
    """Keeps the iteration in which the most different things happened."""

    current: list[Happening] = field(default_factory=list)
    best: list[Happening] = field(default_factory=list)
    iteration: int = 0

    def see(self, event: Event) -> None:
        happening = _happening(event)
        if happening is None or len(self.current) >= MOST:
            return
        last = self.current[-1] if self.current else None
        if last is not None and last.kind == happening.kind == "forward":
            last.number += happening.number
            last.until = happening.until
        elif last is not None and last.same(happening):
            last.times += 1
        else:
            self.current.append(happening)

    def end_iteration(self, iteration: int) -> None:
        new, old = _richness(self.current), _richness(self.best)
        if new > old or (new == old and iteration <= SETTLED):
            self.best, self.iteration = self.current, iteration
        self.current = []


def _richness(happenings: list[Happening]) -> int:
    return len({(h.kind, h.site, h.oid) for h in happenings})


def _happening(event: Event) -> Happening | None:
    if isinstance(event, Ops):
        done = [op for op in event.ops if op.name not in SOURCES and op.site]
        if not done:
            return None
        return Happening("forward", done[0].site, frozenset(), 0, len(done), done[-1].site)
    if isinstance(event, Backward):
        return Happening("backward", event.site, frozenset(event.fed), 0, event.loss)
    if isinstance(event, Clip):
        return Happening("clip", event.site, frozenset(event.params), 0, event.limit)
    if isinstance(event, Step):
        return Happening("step", event.site, frozenset(event.held), event.oid)
    if isinstance(event, ZeroGrad):
        return Happening("zero_grad", event.site, frozenset(event.params))
    if isinstance(event, Sync) and event.how != "deepcopy":
        return Happening("sync", event.site, frozenset(pid for pid, _ in event.pairs))
    return None


@dataclass(slots=True)
class Held:
    """What the gradients of one optimizer consist of."""

    lines: list[int] = field(default_factory=list)
    spent: bool = False

    def apply(self, happening: Happening, history: History) -> None:
        line = history.sites[happening.site].line if happening.site in history.sites else 0
        if happening.kind == "backward":
            self.spent = False
            if line not in self.lines:
                self.lines.append(line)
        elif happening.kind == "step":
            self.spent = True
        elif happening.kind == "zero_grad":
            self.lines.clear()


def timeline(
    chronicle: Chronicle,
    history: History,
    locate: Callable[[Site], Location | None],
    findings: list[Finding],
    lane_name: Callable[[Optimizer], str],
) -> Timeline:
    happenings = _from_forward(chronicle.best or chronicle.current)
    optimizers = [o for o in history.optimizers.values() if o.steps] or list(history.optimizers.values())
    found = Timeline(chronicle.iteration, [lane_name(o) for o in optimizers])
    held = [Held() for _ in optimizers]
    for turn in (False, True):  # once over to see what the iteration before has left behind
        for happening in happenings if turn or chronicle.iteration > 1 else ():
            lanes = [n for n, o in enumerate(optimizers) if _concerns(happening, o)]
            for lane in lanes:
                held[lane].apply(happening, history)
            if turn:
                found.entries.append(_entry(happening, lanes, locate, findings))
                found.held.append([list(lane.lines) for lane in held])
                found.spent.append([lane.spent for lane in held])
    return found


def _from_forward(happenings: list[Happening]) -> list[Happening]:
    """Iterations are counted from step to step; one reads them from the forward pass on."""
    first = next((n for n, h in enumerate(happenings) if h.kind == "forward"), 0)
    return [*happenings[first:], *happenings[:first]]


def _concerns(happening: Happening, optimizer: Optimizer) -> bool:
    if happening.kind == "step":
        return happening.oid == optimizer.oid
    return happening.kind != "sync" and bool(happening.pids & set(optimizer.params))


def _entry(
    happening: Happening,
    lanes: list[int],
    locate: Callable[[Site], Location | None],
    findings: list[Finding],
) -> Entry:
    where = locate(happening.until or happening.site)
    text = where.code if where is not None else ""
    if happening.kind == "forward":
        text = f"{happening.number:.0f} operations"
    about = [
        i
        for i, f in enumerate(findings)
        if where is not None and happening.kind != "forward" and where in (f.culprit, *_told(f))
    ]
    return Entry(happening.kind, where, lanes, text, happening.times, about)


def _told(finding: Finding) -> list[Location]:
    return [site.location for site in finding.sites]
