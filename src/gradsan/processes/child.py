"""A process that the watched script has started: watched from its first `import torch` on, with a trace of its own."""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import sys
import traceback
from types import TracebackType
from typing import Any

from gradsan.judge.engine import Engine
from gradsan.judge.lines.source import pin_base
from gradsan.judge.report.findings import Finding
from gradsan.judge.report.selection import select
from gradsan.observe.import_hook import ImportHook
from gradsan.observe.interruptions import is_at_work
from gradsan.observe.last_resort import attempt
from gradsan.processes.folder import is_first, open_trace
from gradsan.processes.identity import identity
from gradsan.processes.orders import Orders, given
from gradsan.runner import signals, tracebacks, watch
from gradsan.runner.signals import last_words
from gradsan.runner.watch import Watch

SHOWING = ("multiprocessing.process", "torch.multiprocessing.spawn")  # where a worker's exception ends


def begin(script: str | None = None) -> None:
    """Right after torch was imported in a fresh process. `script`: whose it is, where it does not say so itself."""
    orders = given(os.environ)
    if orders is None or watch.running() is not None:
        return
    code = sys.orig_argv[sys.orig_argv.index("-c") + 1] if sys.argv[:1] == ["-c"] else None
    child = Child(orders._replace(script=script or _script(), code=code))
    child.start()
    child.stand_by()
    follow_forks(orders)


def follow_forks(orders: Orders) -> None:
    """From now on, a child that this process forks is watched by itself."""

    def heir(parents: Watch | None) -> None:
        if not _will_be_replaced() and os.path.isdir(orders.scratch):
            attempt("fork", begin_forked, orders, parents)

    watch.heirs[:] = [heir]


def begin_forked(orders: Orders, parents: Watch | None) -> None:
    if "torch" not in sys.modules:
        ImportHook("torch", lambda: begin_forked(orders, None), "fork").start()
        return
    child = Child(orders)
    signals.heirs[:] = [child.last_word]
    child.start(parents)
    atexit.register(child.finish)


class Child:
    def __init__(self, orders: Orders) -> None:
        self._orders, self._pid = orders, os.getpid()
        self._error: BaseException | None = None
        self._over = False
        self._live: Any = None
        about = {"script": orders.script, "mode": orders.mode, "python": sys.version.split()[0]}
        about["run"] = orders.run
        code = {"code": orders.code} if orders.code is not None else {}
        self._writer = open_trace(orders.folder, **about, **code)
        listener = self._tell if orders.live else None
        engine = Engine(select(orders.live, ()) if orders.live else None, listener)
        self.watch = Watch(engine, self._writer, orders.mode, orders.include, orders.draws)

    def start(self, parents: Watch | None = None) -> None:
        _running[:] = [self]
        pin_base(self._orders.base)
        attempt("traceback", self._read_along)
        self.watch.start(parents)

    def _read_along(self) -> None:
        """A worker shows its last exception by itself, as text: read it before, and take our frames out."""
        for name in ("print_exc", "format_exc"):
            setattr(traceback, name, self._reading(getattr(traceback, name)))

    def _reading(self, original: Any) -> Any:
        @functools.wraps(original)
        def told(*args: Any, **kwargs: Any) -> Any:
            error = sys.exception()
            if error is not None and sys._getframe(1).f_globals.get("__name__") in SHOWING:
                self._error = error
                attempt("traceback", tracebacks.clean, error)
            return original(*args, **kwargs)

        return told

    def stand_by(self) -> None:
        """For every way in which a process can end."""
        atexit.register(self.finish)
        signals.heirs[:] = [self.last_word]
        words = contextlib.ExitStack()
        with contextlib.suppress(ValueError):  # not in the main thread: signals are handled there only
            words.enter_context(last_words(self.last_word))
        self._words = words.pop_all()  # kept: it is left only with the process
        shown = sys.excepthook

        def excepthook(kind: type[BaseException], error: BaseException, tb: TracebackType | None) -> None:
            self._error = error
            attempt("traceback", tracebacks.clean, error)
            shown(kind, error, error.__traceback__)

        sys.excepthook = excepthook

    def finish(self, error: BaseException | None = None) -> None:
        if self._over or os.getpid() != self._pid:
            return
        self._over = True
        self.watch.finish(error or self._error, goes_on=False)
        if self._live is not None:
            attempt("status line", self._live.flush)

    def last_word(self) -> None:
        """A signal may have stopped the program in the middle of our own work: then nothing is taken apart."""
        if os.getpid() == self._pid and not self._over:
            if is_at_work(sys._getframe()):
                self._over = True
                self.watch.finish_at_once()
            else:
                self.finish()

    def _tell(self, finding: Finding) -> None:
        """Once for all processes: what 64 workers do wrong is one line, not 64."""
        where = finding.culprit.place if finding.culprit is not None else finding.message
        what = hashlib.sha256(f"{finding.rule} {where}".encode()).hexdigest()[:24]
        if not is_first(self._orders.scratch, what):
            return
        if self._live is None:
            from gradsan.render.fresh_line import FreshLine
            from gradsan.render.live import Live

            self._live = Live(sys.stderr, FreshLine(sys.stderr), _who())
        self._live(finding)


_running: list[Child] = []


def finish(error: BaseException | None) -> None:
    """The script came to its end in a child that it forked."""
    for child in _running:
        child.finish(error)


def _who() -> str:
    rank = identity().get("rank")
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        rank = distributed.get_rank()
    return f"rank {rank}" if rank is not None else f"process {os.getpid()}"


def _script() -> str:
    """What was started, in short: of a worker of `multiprocessing` the script that it belongs to."""
    main = sys.modules.get("__mp_main__") or sys.modules.get("__main__")
    return str(getattr(main, "__file__", None) or (sys.argv[0] if sys.argv else ""))


def _will_be_replaced() -> bool:
    """`subprocess` forks, too, where a `preexec_fn` is given, and then becomes another program."""
    frame: Any = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "_execute_child" and frame.f_globals.get("__name__") == "subprocess":
            return True
        frame = frame.f_back
    return False
