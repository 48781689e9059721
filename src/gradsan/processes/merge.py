"""Many traces, one report: each is judged by itself, then the ranks are compared, and what was found in several
processes becomes one finding."""

from __future__ import annotations

import linecache
import math
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from gradsan.judge.engine import Engine
from gradsan.judge.report.baseline import Baseline
from gradsan.judge.report.findings import SEVERITIES, Finding, Process, Report
from gradsan.picture.collector import PictureCollector
from gradsan.picture.model import Picture
from gradsan.processes.across import compare
from gradsan.processes.folder import traces_in
from gradsan.record.events import SiteSeen
from gradsan.record.sinks import Sink, Sinks
from gradsan.record.trace import TraceError, read
from gradsan.rules.base import Rule
from gradsan.runner.program import STRING, remember_code
from gradsan.runner.watch import draw

LARGEST_SOURCE = 10_000_000
MOST_DRAWN = 8  # processes: a page for the browser has to stay small
TOGETHER = 600.0  # seconds: ranks of one job begin at about the same time
LEFT_NOTHING = "it left no trace"


class Judged(NamedTuple):
    """One process, judged by itself."""

    about: dict[str, Any]
    engine: Engine
    report: Report
    picture: PictureCollector | None = None

    @property
    def process(self) -> Process:
        said, group = self.about.get("process"), self.engine.history.ranks.group
        known = said if isinstance(said, dict) else {}
        rank, local, world = (known.get(name) for name in ("rank", "local_rank", "world_size"))
        if group is not None:
            rank, world = group.rank, group.world
            local = local if group.local_rank < 0 else group.local_rank
        numbers = (_number(known.get("pid")), _number(known.get("parent")))
        report, why = self.report, str(self.about.get("not_watched", ""))
        return Process(
            *numbers, str(known.get("host", "")), _number(rank), _number(local), _number(world),
            str(self.about.get("script", "")), report.iterations, report.deep_iterations,
            bool(self.about.get("end")), why,
        )  # fmt: skip


def judged(path: Path, rules: list[type[Rule]], draws: bool = False, follower: Sink | None = None) -> Judged:
    engine, picture = Engine(rules), PictureCollector() if draws else None
    given: list[Sink | None] = [engine, picture, follower]
    sinks = Sinks(sink for sink in given if sink is not None)
    about: dict[str, Any] = {}
    code = linecache.cache.get(STRING)
    for record in read(path):
        if isinstance(record, dict):
            about.update(record)
            if "code" in record:
                remember_code(str(record["code"]))
            continue
        if isinstance(record, SiteSeen):
            refuse_odd_source(record.file)
        sinks.feed(record)
    sinks.finish()
    result = Judged(about, engine, engine.report(), picture)
    if code is not None:
        linecache.cache[STRING] = code
    return result


def judged_all(
    paths: Iterable[Path], rules: list[type[Rule]], draws: bool, run: str | None = None
) -> tuple[list[Judged], list[Process]]:
    """Those of this run, with those whose trace cannot be read."""
    found, lost = list[Judged](), list[Process]()
    for path in paths:
        try:
            one = judged(path, rules, draws)
            if run is None or one.about.get("run") == run:
                found.append(one)
        except TraceError as error:
            host, _, pid = path.stem.rpartition("-")
            lost.append(Process(int(pid) if pid.isdigit() else None, host=host, not_evaluated=str(error)))
    return found, lost


def judged_latest(folder: Path, rules: list[type[Rule]], draws: bool) -> tuple[list[Judged], list[Process]]:
    """The traces of the run that was recorded last, the process that began it first."""
    found, lost = judged_all(traces_in(folder), rules, draws)
    if not found:
        raise TraceError(f"there is no trace that can be read in {folder}")
    latest = max(found, key=_began)
    found = [part for part in found if _is_same_run(part, latest)]
    pids = {part.process.pid for part in found}
    return sorted(found, key=lambda part: (part.process.parent in pids, _order(part.process))), lost


def _is_same_run(part: Judged, latest: Judged) -> bool:
    """Ranks that a batch system has started each by itself know nothing of each other but their group."""
    if part.about.get("run") == latest.about.get("run"):
        return True
    one, other = part.process, latest.process
    ranks = one.rank is not None and other.rank is not None and one.world_size == other.world_size
    return ranks and abs(_began(part) - _began(latest)) < TOGETHER


def merged(
    parts: list[Judged], lost: list[Process], rules: list[type[Rule]], baseline: Baseline | None = None
) -> Report:
    """One report of all of them. `parts` begins with the process that the run itself is."""
    parts = _newest([*parts[:1], *sorted(parts[1:], key=lambda part: _order(part.process))])
    processes = [part.process for part in parts]
    missing = [*lost, *_missing(processes)]
    whole = replace_counts(parts)
    found = _together(parts, processes)
    across, not_compared, faults = compare(
        [(process, part.engine) for process, part in zip(processes, parts, strict=True)], rules
    )
    whole.faults += faults
    found = [f for f in found if not any(_is_told_by(f, other) for other in across)] + across
    whole.findings = sorted(found, key=lambda f: -SEVERITIES.index(f.severity))
    whole.processes = [*processes, *missing]
    if baseline is not None:  # before anything is drawn: pictures refer to findings by number
        baseline.apply(whole)
    gone = [f"{process.name}: {process.not_evaluated}" for process in missing if process.rank is not None]
    codes = [rule.code for rule in rules if rule.across_ranks]
    whole.not_evaluated = _distinct(
        [entry for part in parts for entry in part.report.not_evaluated if part.report.iterations]
        + [{"rule": code, "reason": reason} for reason in [*gone, *not_compared] for code in codes]
    )
    _draw(whole, [(process, p.picture) for process, p in zip(processes, parts, strict=True) if p.picture])
    return whole


def _draw(whole: Report, pictures: list[tuple[Process, PictureCollector]]) -> None:
    """Those of the first few that trained, in one picture: each loss and each chart says whose it is."""
    trained = [drawn for drawn in pictures if drawn[0].iterations][:MOST_DRAWN]
    together: Picture | None = None
    for process, picture in trained or pictures[:1]:
        draw(whole, picture)
        if (one := whole.picture) is None:
            continue
        for loss in one.losses:
            loss.process = process.name
        for chart in one.charts:
            chart.process = process.name
        if together is None:
            together = one
        else:
            together.losses += one.losses
            together.charts += one.charts
    whole.picture = together


def _newest(parts: list[Judged]) -> list[Judged]:
    """Of several that say they are the same rank, the one that began last: a launcher starts a failed one again, and a
    folder may hold an earlier run of the same name."""
    began: dict[int, float] = {}
    for part in parts:
        if (rank := part.process.rank) is not None:
            began[rank] = max(began.get(rank, -math.inf), _began(part))
    return [p for p in parts if p.process.rank is None or _began(p) >= began[p.process.rank]]


def _began(part: Judged) -> float:
    began = part.about.get("began")
    return float(began) if isinstance(began, int | float) else 0.0


def replace_counts(parts: list[Judged]) -> Report:
    """The report of the first one, with what holds for all."""
    first, reports = parts[0].report, [part.report for part in parts]
    first.iterations = max(r.iterations for r in reports)
    first.deep_iterations = max(r.deep_iterations for r in reports)
    first.attention = next((r.attention for r in reports if r.iterations), first.attention)
    first.torch = next(
        (t for part in parts if (t := part.report.torch or str(part.about.get("torch", "")))), ""
    )
    first.faults = [fault for r in reports for fault in r.faults]
    first.errors_explained = _distinct([error for r in reports for error in r.errors_explained])
    first.suppressed = _distinct([entry for r in reports for entry in r.suppressed])
    first.suppression_problems = _problems(reports)
    first.reached = frozenset().union(*(r.reached for r in reports))
    first.evaluated = frozenset.intersection(*(r.evaluated for r in reports))
    return first


def _problems(reports: list[Report]) -> list[dict[str, Any]]:
    """A comment that does nothing in one process may do something in another."""
    useful = [entry["comment"] for r in reports for entry in r.suppressed]
    trained = [r for r in reports if r.iterations] or reports
    everywhere = [
        p for p in trained[0].suppression_problems if all(p in r.suppression_problems for r in trained)
    ]
    return [p for p in _distinct(everywhere) if {"file": p["file"], "line": p["line"]} not in useful]


def _together(parts: list[Judged], processes: list[Process]) -> list[Finding]:
    """One finding per culprit, told in the words of the first process that it was met in."""
    groups: dict[Any, list[tuple[Finding, Process]]] = {}
    for part, process in zip(parts, processes, strict=True):
        counted: dict[Any, int] = {}
        for finding in [*part.report.findings, *part.report.known]:
            where = finding.culprit
            key = (finding.rule, where and (where.file, where.line), None if where else finding.message)
            counted[key] = counted.get(key, 0) + 1
            groups.setdefault((key, counted[key]), []).append((finding, process))
    return [_one(group) for group in groups.values()]


def _one(group: list[tuple[Finding, Process]]) -> Finding:
    first = group[0][0]
    worst = max((f.severity for f, _ in group), key=SEVERITIES.index)
    total = {name: sum(getattr(f, name) for f, _ in group) for name in ("count", "met", "traced", "repeated")}
    return replace(
        first, severity=worst, first_iteration=min(f.first_iteration for f, _ in group),
        processes=tuple(process for _, process in group), **total,
    )  # fmt: skip


def _is_told_by(finding: Finding, across: Finding) -> bool:
    """What the ranks together show better than one of them could."""
    same = finding.rule == across.rule and set(finding.subjects) <= set(across.subjects)
    return same and bool({p.pid for p in finding.processes} & {p.pid for p in across.processes})


def _missing(processes: list[Process]) -> list[Process]:
    """Ranks that others know of, and that left nothing."""
    worlds = {p.world_size for p in processes if p.rank is not None and p.world_size}
    there = {p.rank for p in processes}
    return [
        Process(rank=rank, world_size=max(worlds), ended=False, not_evaluated=LEFT_NOTHING)
        for rank in (range(max(worlds)) if worlds else ())
        if rank not in there
    ]


def _order(process: Process) -> tuple[bool, int, str, int]:
    rank = process.rank
    return rank is None, rank or 0, process.host, process.pid or 0


def _number(value: Any) -> int | None:
    return value if type(value) is int else None


def _distinct(entries: list[Any]) -> list[Any]:
    return [entry for n, entry in enumerate(entries) if entry not in entries[:n]]


def refuse_odd_source(file: str) -> None:
    """A trace is data: it must not make us read a device, a pipe or something huge as source code."""
    if file.startswith("<") or file in linecache.cache:
        return
    if not os.path.isfile(file) or os.path.getsize(file) > LARGEST_SOURCE:
        linecache.cache[file] = (0, None, [], file)
