"""A run follows the processes that its script starts, and merges what they have left into its report."""

from __future__ import annotations

import atexit
import os
import sys
import time
from pathlib import Path
from typing import Any

from gradsan.judge.report.baseline import Baseline
from gradsan.judge.report.findings import Report
from gradsan.observe.last_resort import attempt
from gradsan.processes import child, folder, ray_jobs
from gradsan.processes.identity import identity, is_one_of_several
from gradsan.processes.merge import Judged, judged_all, merged
from gradsan.processes.orders import Orders, take_back, wait_no_longer
from gradsan.processes.place import place_of, tidy
from gradsan.processes.siblings import am_last, run_of_ranks
from gradsan.record.trace import TraceWriter
from gradsan.rules.base import Rule
from gradsan.runner.watch import Watch


class Follower:
    """`waits`: this is one rank of several, and others are still running: the last one will report."""

    def __init__(self, trace: str | None, about: dict[str, Any], scratch: str) -> None:
        self._several, self._scratch = is_one_of_several(), scratch
        self._run = run_of_ranks() if self._several else os.path.basename(self._scratch)
        self._about = about | {"run": self._run, "began": time.time()}
        self._place, self._pid = place_of(trace, self._scratch), os.getpid()
        self._over = False
        self.waits = False
        if self._place.file is None:  # else it is made by the first process that needs it
            self._place.folder.mkdir(parents=not self._place.kept, exist_ok=True)
        self.writer = self._open() if self._place.writes else None

    def _open(self) -> TraceWriter:
        if self._place.file is not None:
            return TraceWriter(self._place.file, **self._about, process=identity())
        return folder.open_trace(str(self._place.folder), **self._about)

    def start(self, include: tuple[str, ...], live: tuple[str, ...], draws: bool) -> None:
        about = self._about
        orders = Orders(
            str(self._place.folder), self._scratch, about["script"], about["mode"], os.getcwd(),
            include, live, about.get("code"), self._run, identity()["host"], draws,
        )  # fmt: skip
        wait_no_longer()
        orders.give(os.environ)
        ray_jobs.prepare(os.environ)
        child.follow_forks(orders)

    def wait_for_children(self) -> None:
        """Children of `multiprocessing` that are still there are waited for, or ended, by its exit handler, and so are
        Ray's workers. It runs now, and all others in their order, so that nothing is missing from the report."""
        multiprocessing = sys.modules.get("multiprocessing")
        if (multiprocessing is not None and multiprocessing.active_children()) or ray_jobs.is_running():
            atexit._run_exitfuncs()

    def merge(
        self, watch: Watch, report: Report, rules: list[type[Rule]], baseline: Baseline | None
    ) -> Report:
        """The report of all processes; the one that was given where there is no other."""
        if os.getpid() != self._pid or self._over:
            return report
        if self._several and not am_last(self._place.folder, self._scratch):
            self.waits = True
            return report
        about = self._about | {"process": identity(), "end": True, "not_watched": watch.not_watched}
        mine = Judged(about, watch.engine, report, watch.picture)
        own = None if self.writer is None else self.writer.path
        paths = [path for path in self._traces() if path != own]
        others, lost = judged_all(paths, rules, watch.picture is not None, self._run)
        if not others and not lost and not self._several:
            return report
        return merged([mine, *others], lost, rules, baseline)

    def _traces(self) -> list[Path]:
        file = self._place.file
        named = [file] if file is not None and file.is_file() else []
        return [*named, *folder.traces_in(self._place.folder)]

    def finish(self) -> None:
        """Leaves nothing behind but the traces that were asked for."""
        if os.getpid() != self._pid or self._over:
            return
        self._over = True
        take_back(os.environ)
        ray_jobs.take_back(os.environ)
        if not self.waits:
            attempt("processes", folder.remove, self._scratch)
            attempt("processes", tidy, self._place)


_scratches: list[str] = []


def new_scratch() -> str:
    """A temporary folder for this run, which is in the way of nobody."""
    scratch = folder.scratch_of_ranks() if is_one_of_several() else folder.scratch()
    _scratches.append(scratch)
    return scratch


def abandon() -> None:
    """Nothing is going to be watched after all."""
    take_back(os.environ)
    ray_jobs.take_back(os.environ)
    while _scratches:
        folder.remove(_scratches.pop())
