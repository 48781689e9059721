"""Runs a program to its end, whatever the end is, and says how it ended."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

from gradsan.observe.headroom import Headroom
from gradsan.observe.last_resort import attempt
from gradsan.runner import tracebacks
from gradsan.runner.program import Program


@dataclass(frozen=True)
class ProgramOutcome:
    """The exit status that python would have given, and the exception that nobody caught."""

    status: int = 0
    error: BaseException | None = None

    @property
    def interrupted(self) -> bool:
        return isinstance(self.error, KeyboardInterrupt)


class Course:
    """How far a program has got: one that has not begun can still be run in another way."""

    begun = False
    outcome: ProgramOutcome | None = None


def execute(program: Program, course: Course, headroom: Headroom) -> ProgramOutcome:
    main = program.become_main()
    attempt("recursion limit", headroom.add_below, sys._getframe())
    with _thread_tracebacks():
        error = _uncaught(program, vars(main), course)
        course.outcome = ProgramOutcome() if error is None else ProgramOutcome(1, error)
        if error is not None:
            course.outcome = _told(error)
        # The interpreter waits for threads before it ends; they may still be training.
        with contextlib.suppress(BaseException):
            attempt("threads", _wait_for_threads)
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    return course.outcome


def _uncaught(program: Program, namespace: dict[str, Any], course: Course) -> BaseException | None:
    """Returned, not handled here: an excepthook runs when no exception is being handled any more."""
    source, file = program.source, program.filename
    try:
        course.begun = True
        code = source if isinstance(source, CodeType) else compile(source, file, "exec", dont_inherit=True)
        exec(code, namespace)
    except BaseException as error:
        return error
    return None


def _told(error: BaseException) -> ProgramOutcome:
    """As the interpreter tells of an exception that nobody caught."""
    try:
        if isinstance(error, SystemExit):
            raise error
        tracebacks.show(error)
        return ProgramOutcome(1, error)
    except SystemExit as end:  # the program's own, or its excepthook's
        return ProgramOutcome(_status(end))


def _status(end: SystemExit) -> int:
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        print(end.code, file=sys.stderr)
    return 1


def _wait_for_threads() -> None:
    """Only `threading` itself knows how to end idle pool workers; calling it twice does no harm."""
    main = threading.main_thread()
    if any(not t.daemon and t is not main for t in threading.enumerate()):
        threading._shutdown()  # type: ignore[attr-defined]


@contextlib.contextmanager
def _thread_tracebacks() -> Iterator[None]:
    """Threads show uncaught exceptions by themselves: clean those, too."""
    original = threading.excepthook

    def excepthook(args: threading.ExceptHookArgs, /) -> None:
        if args.exc_value is not None:
            attempt("traceback", tracebacks.clean, args.exc_value)
            tb = args.exc_value.__traceback__
            args = threading.ExceptHookArgs((args.exc_type, args.exc_value, tb, args.thread))
        original(args)

    threading.excepthook = excepthook
    try:
        yield
    finally:
        if threading.excepthook is excepthook:
            threading.excepthook = original
