"""One watch: entered, left, and what happens to findings in between."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, ParamSpec, TypeVar

from gradsan.api import errors
from gradsan.api.report import WatchReport
from gradsan.api.showing import say_in_short, show_findings
from gradsan.judge.engine import Engine
from gradsan.judge.lines.source import pin_base, shown_path
from gradsan.judge.report.baseline import Baseline
from gradsan.judge.report.cells import is_notebook
from gradsan.judge.report.findings import Finding, Report
from gradsan.lock.sink import LockSink
from gradsan.observe.interruptions import is_the_scripts
from gradsan.observe.last_resort import attempt, take
from gradsan.record.trace import TraceWriter
from gradsan.rules.base import Rule
from gradsan.runner.bare import fault_of, say
from gradsan.runner.versions import TorchTooOld
from gradsan.runner.watch import Watch, running

P = ParamSpec("P")
R = TypeVar("R")
_opening = threading.RLock()


class Wanted(NamedTuple):
    """What the arguments of `watch` come to."""

    mode: str
    rules: list[type[Rule]]
    on_finding: Callable[[Finding], None] | None
    raise_on: str | None
    include: tuple[str, ...]
    trace: Path | None
    baseline: Baseline | None
    lock: Callable[[Engine], LockSink] | None = None  # follows the run for a lock file


class WatchContext:
    """What `watch(…)` returns. It can be entered again and again, one after the other."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._watch: Watch | None = None
        self._owner = False
        self._listener: Callable[[Finding], None] = self._found
        self._late: BaseException | None = None
        self._ending = False
        self.speaks = True  # in short, at the end; whoever shows the whole report turns it off
        self.report = self._new_report()

    @property
    def mode(self) -> str:
        return self._wanted.mode

    @property
    def is_own(self) -> bool:
        """Whether it has not joined another watch, which will tell the same."""
        return self._owner

    def _new_report(self) -> WatchReport:
        codes = {rule.code for rule in self._wanted.rules}
        return WatchReport(lambda finding: finding.rule in codes)

    def __enter__(self) -> WatchReport:
        if self._watch is not None:
            raise RuntimeError("this watch is running already; call gradsan.watch() again for another one")
        try:
            self._open()
        except TorchTooOld:
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None:  # the trace cannot be written there
                raise
            self._give_up(error)
        return self.report

    def _open(self) -> None:
        if self.report.finished:
            self.report = self._new_report()
        self.report.script = _script()
        self._ending, self._late = False, None
        with _opening:  # two threads may both find that nobody is watching yet
            outer = running()
            self._owner = outer is None
            self._watch = outer or self._begin()
        self.report.begin(self._watch)
        known = self._watch.baseline  # the outer one's, like its mode and its rules
        self._listener = self._found if known is None else known.listener(self._found)
        self._watch.engine.listeners.append(self._listener)

    def _give_up(self, error: Exception) -> None:
        """A fault of ours: the block runs all the same."""
        faults = own_fault(error)
        watch, self._watch = self._watch, None
        if watch is not None and self._owner:
            attempt("session", watch.finish)
        attempt("report", self.report.end, _of_nothing(faults))

    def _begin(self) -> Watch:
        pin_base()
        about = {"script": self.report.script, "mode": self._wanted.mode, "python": sys.version.split()[0]}
        wanted = self._wanted
        writer = TraceWriter(wanted.trace, **about) if wanted.trace is not None else None
        engine = Engine(wanted.rules)
        book = wanted.lock(engine) if wanted.lock is not None else None
        watch = Watch(engine, writer, wanted.mode, wanted.include, is_notebook(), wanted.baseline, lock=book)
        try:
            watch.start()
        except BaseException:
            attempt("session", watch.finish)
            raise
        if watch.refusal:
            watch.finish()
            raise TorchTooOld(watch.refusal)
        return watch

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        watch, self._watch, self._ending = self._watch, None, True
        if watch is None:  # it could not begin, and has said so
            return
        try:
            self._end(watch, error)
        except Exception as fault:
            attempt("report", self.report.end, _of_nothing(own_fault(fault)))
        if self._late is not None and error is None:
            raise self._late

    def _end(self, watch: Watch, error: BaseException | None) -> None:
        if watch.session is not None:
            self._late = watch.session.containment.take_stop()
        if self._owner:
            ours = isinstance(error, errors.GradientError)
            report = watch.finish(None if ours else error)
        else:
            report = watch.snapshot()
        with contextlib.suppress(ValueError):
            watch.engine.listeners.remove(self._listener)
        self.report.end(report)
        if (
            self._owner
            and self.speaks
            and self._wanted.on_finding is None
            and error is None
            and self._late is None
        ):
            try:
                say_in_short(self.report)
            except Exception as fault:  # the report is whole; only the line about it is missing
                own_fault(fault)

    def _found(self, finding: Finding) -> None:
        if not any(rule.code == finding.rule for rule in self._wanted.rules):
            return
        try:
            if self._wanted.on_finding is not None:
                self._wanted.on_finding(finding)
            if self._wanted.raise_on is not None and errors.is_at_least(finding, self._wanted.raise_on):
                raise errors.of_finding(finding)
        except BaseException as error:  # the user's own wish to stop: not a fault of ours to be contained
            self._stop(error)

    def _stop(self, error: BaseException) -> None:
        session = self._watch.session if self._watch is not None else None
        if self._ending or session is None:
            self._late = self._late or error
        else:
            session.containment.stop_with(error)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """As a decorator: every call is watched; findings go to stderr unless `on_finding` takes them."""
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
            raise TypeError(
                f"gradsan.watch cannot decorate {function.__name__!r}, which is suspended and resumed: "
                "write `with gradsan.watch():` around the training inside it"
            )

        @functools.wraps(function)
        def watched(*args: P.args, **kwargs: P.kwargs) -> R:
            watching = WatchContext(self._wanted)
            watching.speaks = False
            watched.gradsan_report = watching.report  # type: ignore[attr-defined]
            try:
                with watching:
                    return function(*args, **kwargs)
            finally:
                if self._wanted.on_finding is None or not watching.report.watched:
                    show_findings(watching)

        return watched


class Unwatched(WatchContext):
    """Where a fault of ours came before there was a watch: the block runs as it would without one."""

    def __init__(self, faults: list[dict[str, str]]) -> None:
        self._wanted = Wanted("adaptive", [], None, None, (), None, None)
        self.speaks, self._owner, self._watch = False, False, None
        self.report = WatchReport()
        self.report.end(_of_nothing(faults))

    def __enter__(self) -> WatchReport:
        return self.report

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        return function


def _of_nothing(faults: list[dict[str, str]]) -> Report:
    return Report(not_watched="a fault of gradsan's own", faults=faults)


def own_fault(error: Exception) -> list[dict[str, str]]:
    """Said at once, in one line, for nobody may read the report; raised on where it is the script's own."""
    if is_the_scripts(error):
        raise error
    say(f"{fault_of(error)}; the code goes on without gradsan")
    noted = [fault._asdict() for fault in take()]
    return [*noted, {"tap": "watch", "traceback": "".join(traceback.format_exception(error))}]


def _script() -> str:
    """The file that opened the watch."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        ("gradsan", "contextlib")
    ):
        frame = frame.f_back
    return shown_path(frame.f_code.co_filename)
