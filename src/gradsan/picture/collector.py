"""A sink that collects what the picture is made of; the memory it takes does not grow."""

from __future__ import annotations

import functools

from gradsan.judge.history import History, Optimizer
from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.source import assigned_name
from gradsan.judge.report.findings import Finding
from gradsan.judge.report.wording import location, name_of
from gradsan.picture import timeline
from gradsan.picture.charts import Thinned, charts
from gradsan.picture.flow_builder import FlowBuilder, Snapshot
from gradsan.picture.model import Picture
from gradsan.picture.naming import folded, networks
from gradsan.picture.reduction import FlowNode, Reduction, reduce_graph
from gradsan.picture.roles import roles
from gradsan.record.events import (
    NOWHERE,
    Attention,
    Backward,
    ChartPoint,
    Event,
    IterationEnd,
    OptimizerId,
    ParamId,
    Repeated,
    Sample,
    Site,
    Step,
)

LOSSES = 24  # loss lines that get a picture
TRIES = 2  # later iterations of a loss line know more than the first


class PictureCollector:
    def __init__(self) -> None:
        self._history = History()
        self._locate = functools.partial(location, self._history)
        self._shots: dict[Site, Snapshot] = {}
        self._tries: dict[Site, int] = {}
        self._log = timeline.IterationLog()
        self._samples: dict[OptimizerId, Thinned[Sample]] = {}  # per optimizer
        self._drawn: set[OptimizerId] = set()  # those with points of their own, and more of them
        self._losses: dict[Site, Thinned[tuple[Site, int, float]]] = {}
        self._deep: list[tuple[int, int]] = []

    # -- while the run lasts ------------------------------------------------------------------------

    def feed(self, event: Event) -> None:
        self._collect(event)
        if isinstance(event, Repeated):
            self._settle()
            self._history.leave_unsettled()
        self._history.apply(event)
        if isinstance(event, Step):
            self._history.consume(event)
        elif isinstance(event, IterationEnd):
            self._log.end_iteration(self._history.iteration)
            self._settle()

    def finish(self) -> None:
        self._settle(everything=True)

    def _collect(self, event: Event) -> None:
        if isinstance(event, ChartPoint):
            self._drawn.add(event.of.oid)
            self._samples.setdefault(event.of.oid, Thinned()).add(event.of)
        elif isinstance(event, Sample):
            if event.oid not in self._drawn:
                self._samples.setdefault(event.oid, Thinned()).add(event)
        elif isinstance(event, Attention):
            self._attend(event.deep)
        elif isinstance(event, Backward) and event.call == "backward" and len(self._losses) < LOSSES:
            point = (event.site, self._history.iteration + 1, event.loss)
            self._losses.setdefault(event.site, Thinned()).add(point)
        self._log.see(event)

    def _attend(self, deep: bool) -> None:
        now = self._history.iteration + 1
        if deep:
            self._deep.append((now, 0))
            del self._deep[:-200]
        elif self._deep and not self._deep[-1][1]:
            self._deep[-1] = (self._deep[-1][0], now)

    def _settle(self, everything: bool = False) -> None:
        for contribution in self._history.settle(everything):
            self._settled(contribution)

    def _settled(self, contribution: Contribution) -> None:
        """Take a picture of this loss, if there is none yet, or if it trains something else by now."""
        site = contribution.site
        known = self._shots.get(site)
        if known is None and len(self._shots) >= LOSSES:
            return
        if (
            known is not None
            and self._tries.get(site, 0) >= TRIES
            and known.consumed == _trains(contribution)
        ):
            return
        taken = self._take(contribution)
        if taken is not None:
            self._tries[site] = self._tries.get(site, 0) + 1
            self._shots[site] = taken
        elif known is None:
            self._shots[site] = self._shot(contribution, self._bare(contribution.event), site)

    def _take(self, contribution: Contribution) -> Snapshot | None:
        history, event = self._history, contribution.event
        roots = tuple(root.nid for root in event.roots if root.nid in history.graph.ops)
        if not roots:
            return None
        home = history.sites.get(history.graph.ops[roots[0]].site) or history.sites.get(event.site)

        def is_home(site: Site) -> bool:
            seen = history.sites.get(site)
            return bool(seen and home and (seen.file, seen.function) == (home.file, home.function))

        found = reduce_graph(history.graph, roots, self._boxes(), is_home)
        return None if found is None else self._shot(contribution, found, home.site if home else NOWHERE)

    def _shot(self, contribution: Contribution, found: Reduction, home: Site) -> Snapshot:
        event = contribution.event
        return Snapshot(found, event.site, home, event.call, set(event.fed), _trains(contribution))

    def _bare(self, event: Backward) -> Reduction:
        """Without a deep iteration only this is known: which networks the loss reaches."""
        box_of = self._boxes()
        nodes = {0: FlowNode("", True, sites=[event.site])}
        numbers: dict[str, int] = {}
        for pid in event.reached:
            box = box_of.get(pid, "")
            number = numbers.setdefault(box, len(numbers) + 1)
            nodes.setdefault(number, FlowNode(box, True)).pids.add(pid)
        return Reduction(nodes, {(number, 0) for number in numbers.values()}, 0, set(), set())

    def _boxes(self) -> dict[ParamId, str]:
        return folded(self._names(), self._owners)

    def _names(self) -> dict[ParamId, str]:
        return {pid: name_of(self._history, pid) for pid in self._history.params}

    # -- at the end ---------------------------------------------------------------------------------

    def picture(self, findings: list[Finding]) -> Picture:
        history, names = self._history, self._names()
        by_pid = networks(names, self._kind)
        reductions = [shot.reduction for shot in self._shots.values()]
        box_of = {pid: node.box for s in reductions for node in s.nodes.values() for pid in node.pids}
        network_of = {box: by_pid[pid] for pid, box in box_of.items()}
        parts = roles(history, box_of, reductions)
        painter = FlowBuilder(history, self._locate, findings, parts, network_of)
        shots = sorted(self._shots.values(), key=lambda shot: shot.site)

        def lane_name(optimizer: Optimizer) -> str:
            owned = dict.fromkeys(by_pid[pid] for pid in optimizer.params if pid in by_pid)
            shown = ", ".join(list(owned)[:3]) + (" …" if len(owned) > 3 else "")
            return f"{optimizer.kind}: {shown}"

        points = [point for of in self._losses.values() for point in of.items]
        return Picture(
            [painter.paint(shot) for shot in shots],
            charts(
                [sample for of in self._samples.values() for sample in of.items],
                points,
                lambda pid: names.get(pid, "?"),
                lambda pid: by_pid.get(pid, "?"),
                lambda oid: lane_name(history.optimizers[oid]) if oid in history.optimizers else "?",
                self._loss_name,
            ),
            timeline.timeline(self._log, history, self._locate, findings, lane_name),
            [(start, end or history.iteration) for start, end in self._deep],
        )

    def _owners(self, pid: ParamId) -> frozenset[OptimizerId]:
        return frozenset(o.oid for o in self._history.owner_of(pid))

    def _kind(self, pid: ParamId) -> object:
        return self._owners(pid), self._history.networks.is_target(pid)

    def _loss_name(self, site: Site) -> str:
        shot, seen = self._shots.get(site), self._history.sites.get(site)
        line = f"line {seen.line}" if seen else "?"
        root = shot.reduction.nodes[shot.reduction.root].sites[-1:] if shot else []
        made = self._history.sites.get(root[0]) if root else None
        name = assigned_name(made.file, made.line) if made else ""
        return f"{name} ({line})" if name else line


def _trains(contribution: Contribution) -> dict[OptimizerId, set[ParamId]]:
    """By optimizer, the parameters that it stepped on this loss."""
    consumed: dict[OptimizerId, set[ParamId]] = {}
    for taken in contribution.consumed:
        consumed.setdefault(taken.oid, set()).update(taken.pids)
    return consumed
