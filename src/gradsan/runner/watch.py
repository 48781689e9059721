"""One watched run: the observation session, the sinks of its events, and their one report at the end."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

from gradsan.judge.engine import Engine
from gradsan.judge.report.baseline import Baseline
from gradsan.judge.report.findings import Finding, Report
from gradsan.observe.headroom import Headroom
from gradsan.observe.import_hook import ImportHook
from gradsan.observe.interruptions import Interruptions
from gradsan.observe.last_resort import attempt, listeners, note, take
from gradsan.record.events import Fault
from gradsan.record.recorder import Recorder
from gradsan.record.sinks import Sink
from gradsan.record.trace import TraceWriter
from gradsan.runner.versions import too_old

if TYPE_CHECKING:
    from gradsan.lock.sink import LockSink
    from gradsan.observe.session import Session
    from gradsan.picture.collector import PictureCollector


_open: list[Watch] = []


def running() -> Watch | None:
    """The watch that is open in this process, if any: there is never more than one set of taps."""
    return _open[-1] if _open else None


heirs: list[Callable[[Watch | None], None]] = []
"""Called in a forked child, with the watch that its parent had."""


def _forget_in_child() -> None:
    for watch in _open:
        watch.forget_in_child()
    for heir in heirs:
        attempt("fork", heir, running())


os.register_at_fork(after_in_child=_forget_in_child)  # once: a fork handler cannot be taken back


class Watch:
    def __init__(
        self,
        engine: Engine,
        writer: TraceWriter | None,
        mode: str,
        include: tuple[str, ...] = (),
        draws: bool = False,
        baseline: Baseline | None = None,
        refuses: bool = False,
        lock: LockSink | None = None,
    ) -> None:
        """`refuses`: a program that imports a torch which is too old ends there, instead of going on unwatched."""
        self.baseline = baseline
        self.engine = engine
        self.writer = writer
        self.mode = mode
        self.include = include
        self.picture = _picture_collector() if draws else None
        self.lock = lock
        sinks: list[Sink | None] = [writer, engine, self.picture, lock]
        self.recorder = Recorder([sink for sink in sinks if sink is not None])
        self.session: Session | None = None
        self.refusal = ""  # this torch is too old
        self.not_watched = ""
        self._refuses = refuses
        self._arrival = ImportHook("torch", self._attach)
        self._owner = os.getpid()
        self.interruptions = Interruptions()
        self.headroom = Headroom()

    def start(self, parents: Watch | None = None) -> None:
        """`parents`: the one that was open when this process was forked. What holds for a process is taken over."""
        if parents is not None:
            parents.leave_to_child()
            self.interruptions, self.headroom = parents.interruptions, parents.headroom
        _open.append(self)
        listeners.append(self.engine.lose_track)
        if parents is None:
            attempt("signals", self.interruptions.start)
            attempt("recursion limit", self.headroom.start)
        with contextlib.suppress(SystemExit):  # torch is here already: nothing of the program has run yet
            self._arrival.start()

    def _attach(self) -> None:
        self.refusal = self.not_watched = too_old(_torch_version())
        if not self.refusal:
            self._install()
        if self.not_watched and self.writer is not None:
            self.writer.note(not_watched=self.not_watched)
        if self.refusal and self._refuses:
            raise SystemExit(2)  # past every `except Exception`, and without a traceback

    def _install(self) -> None:
        """The one place that decides what "nothing was watched" is: torch is there, and the session, or its tap
        on backward or on optimizers, could not be installed."""
        try:
            from gradsan.observe.session import Session

            if self.writer is not None:
                self.writer.note(torch=_torch_version())
            draws = self.picture is not None
            self.session = Session(self.recorder, self.mode, self.include, draws)
            self.session.__enter__()
            if not self.session.watching:
                self.not_watched = "the taps on backward and on optimizers could not be installed"
        except Exception as error:
            self.not_watched = f"the taps could not be installed ({type(error).__name__}: {error})"
            self._fault("session")
            self._take_out()

    def forget_in_child(self) -> None:
        """A forked child goes on as if there were no gradsan: the trace and the report are its parent's."""
        self._arrival.stop()
        if self.session is not None:
            self.session.containment.look_away()
        if self.writer is not None:
            self.writer.forget_in_child()

    def leave_to_child(self) -> None:
        """After that, in a child that is going to be watched by itself."""
        _open[:] = [watch for watch in _open if watch is not self]
        if self.engine.lose_track in listeners:
            listeners.remove(self.engine.lose_track)
        self._take_out()

    @property
    def iteration(self) -> int:
        return self.recorder.iteration if self.session is None else self.session.iteration

    @property
    def findings(self) -> list[Finding]:
        """Those so far that are not in the baseline."""
        found = list(self.engine.findings.values())
        return found if self.baseline is None else self.baseline.new(found)

    @property
    def is_in_child(self) -> bool:
        return os.getpid() != self._owner

    def finish(self, error: BaseException | None = None, goes_on: bool = True) -> Report:
        """Take everything out again and judge what is left to be judged. `goes_on`: the script does."""
        report = attempt("report", self._finish, error) or self._least()
        if goes_on:
            attempt("signals", self.interruptions.stop)
            report.faults += _noted()
        return report

    def _finish(self, error: BaseException | None) -> Report:
        _open[:] = [watch for watch in _open if watch is not self]
        attempt("session", self._arrival.stop)
        if self.lock is not None:
            self.lock.whole = error is None
        if self.session is not None:
            if error is not None:
                attempt("explain", self.session.explain, error)
            attempt("session", self.session.__exit__, None, None, None)
        attempt("session", self.recorder.finish)
        attempt("recursion limit", self.headroom.stop)
        if self.engine.lose_track in listeners:
            listeners.remove(self.engine.lose_track)
        return self.report()

    def finish_at_once(self) -> Report:
        """In a signal handler, with the program stopped anywhere, even in the middle of a write to the
        trace: look, but take nothing apart."""
        if self.writer is not None:
            attempt("trace", self.recorder.sinks.drop, self.writer)
        if self.lock is not None:
            self.lock.whole = False
        attempt("session", self.recorder.finish)
        return self.report()

    def snapshot(self) -> Report:
        """What is known so far; nothing is ended by asking."""
        broken = {fault.tap: fault for fault in self.recorder.sinks.faults}
        if type(self.engine).__name__ in broken:
            self.engine.lose_track()
        report = attempt("report", self.engine.report)
        if report is None:
            report = self._least()
        if self.baseline is not None:  # before anything is drawn: pictures refer to findings by number
            attempt("baseline", self.baseline.apply, report)
        if self.picture is not None:
            attempt("picture", draw, report, self.picture)
        told = {fault["tap"] for fault in report.faults}
        report.faults += [fault._asdict() for tap, fault in broken.items() if tap not in told]
        report.mode = self.mode
        report.torch = _torch_version()
        report.not_watched = self.not_watched
        return report

    def _least(self) -> Report:
        """What was found is worth more than how it would have been told."""
        found = list(self.engine.findings.values())
        return Report(iterations=self.recorder.iteration, findings=found, faults=_noted())

    def report(self) -> Report:
        report = self.snapshot()
        if self.writer is not None and self.writer.failed:
            report.faults.append({"tap": "trace", "traceback": self.writer.failed})
        report.faults += _noted()
        return report

    def _take_out(self) -> None:
        """Half of the taps would be worse than none."""
        if self.session is not None:
            attempt("session", self.session.take_out)

    def _fault(self, tap: str) -> None:
        try:
            self.recorder.emit(Fault(tap, traceback.format_exc()))
        except Exception:
            note(tap)


def _noted() -> list[dict[str, str]]:
    """Faults that nobody else could take down, once."""
    return [noted._asdict() for noted in take()]


def _picture_collector() -> PictureCollector:
    from gradsan.picture.collector import PictureCollector  # only where something will be drawn

    return PictureCollector()


def draw(report: Report, picture: PictureCollector) -> None:
    """Add what can be drawn to the report; where that fails, the findings stay."""
    try:
        report.picture = picture.picture(report.findings)
    except Exception:
        report.faults.append({"tap": "picture", "traceback": traceback.format_exc()})


def _torch_version() -> str:
    return str(getattr(sys.modules.get("torch"), "__version__", ""))
